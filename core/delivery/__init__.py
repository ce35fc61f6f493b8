"""What leaves the program: one outbox, hooks on events, and who is asked before a change.

It may import what stands below it, and knows ports only: what sends is in the adapters.
Begin with `dispatcher.py`; `hooks.py` is the configuration, `asking.py` asks one hook.
"""
