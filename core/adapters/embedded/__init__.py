"""Services that ship with the program: PostgreSQL, a skill server, a computer-use server.

It may import domain, skills and knowledge; each service can be replaced by a real one.
Begin with `postgres.py`, then `skill_server.py` and `computer_use.py` (the sandbox).
"""
