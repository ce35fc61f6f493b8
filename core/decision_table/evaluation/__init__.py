"""Cases put to a table: inputs typed, conditions evaluated, matching rows made into a result."""
