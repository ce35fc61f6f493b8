"""What PostgreSQL must do behind ports that have no other implementation."""
