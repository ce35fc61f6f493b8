"""Knowledge brought in and copied out in bulk: one JSON object a line, through the gate."""
