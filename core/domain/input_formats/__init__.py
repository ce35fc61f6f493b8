"""Reading what people bring: feedback and agents, line by line (pure)."""
