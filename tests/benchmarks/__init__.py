"""Figures that are promised: run by `python -m tests.benchmarks`, never by the test suite."""
