"""What a repository's instruction files say, read as first knowledge of an agent.

It may import what `knowledge` may; what it reads goes through the change gate by `transfer`.
Begin with `reading.py`; `passages.py` says what of a Markdown text is an instruction.
"""
