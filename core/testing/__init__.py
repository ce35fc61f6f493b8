"""Shipped and public: a scripted model, fakes that are simpler than the thing, contract suites.

It may import every room below `app`; tests and plug-ins alone import it.
Begin with `stores.py`, then `contracts/`.
"""
