"""Cases put to a table: inputs read, conditions evaluated, hits made into a result."""
