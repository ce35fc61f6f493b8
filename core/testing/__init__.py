"""Public test support: a scripted model, in-memory fakes and contract suites.

It may import every room below `app`; only tests and plug-ins import it.
Begin with `stores.py`, then `contracts/`.
"""
