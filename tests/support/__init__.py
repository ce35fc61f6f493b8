"""Building blocks of fixtures and tests."""
