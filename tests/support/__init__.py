"""What the fixtures are made of."""
