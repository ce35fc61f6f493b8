"""The promised figures: run by `python -m tests.benchmarks`, never by the test suite."""
