"""What is learnt of a table beside its rows: their cases, and what a change introduces."""
