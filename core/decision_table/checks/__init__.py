"""The parts of the checks of decision tables: cells as sets, rows as boxes, what is found."""
