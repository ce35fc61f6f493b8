"""The parts of `mcp_client`: long-lived sessions, and parsers of what servers answer.

It may import `core.domain`; the `mcp` SDK and its LangChain adapter are imported when first used.
Begin with `session.py`; `pods.py` and `documents.py` implement the ports.
"""
