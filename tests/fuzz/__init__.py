"""Fuzz targets: the suite runs them briefly, `python -m tests.fuzz SECONDS` for long."""
