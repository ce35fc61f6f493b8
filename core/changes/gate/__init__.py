"""The parts of the change gate: what it writes down, and how it holds a target."""
