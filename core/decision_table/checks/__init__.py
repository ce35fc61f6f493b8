"""The parts of the table checks: cells as sets, rows as boxes, findings."""
