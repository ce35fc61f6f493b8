"""What all rooms know and that knows none of them: models, ports, errors, hashing, text.

It may import nothing of `core` but itself; plug-ins import it, and `core.testing`, alone.
Begin with `models/` for the words of the program, then `ports/` for what it asks of adapters.
"""
