"""What a newcomer lacks: PostgreSQL, a skill server, a computer-use server."""
