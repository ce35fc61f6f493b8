"""What leaves the program: one outbox, hooks on events, who is asked before a change, files.

It may import what stands below it, and knows ports only: what sends is in the adapters.
Begin with `dispatcher.py`; `hooks.py` configures, `asking.py` asks one hook, `files/` is for tools.
"""
