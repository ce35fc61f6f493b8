"""Stories that any model can be put to: run with the offline stand-in by tests, else by hand."""
