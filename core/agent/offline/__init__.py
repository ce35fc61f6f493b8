"""A deterministic stand-in for a language model, so that everything runs without a key.

It may import what `agent` may; settings choose it as the model `offline`.
Begin with `model.py`; `rules.py` has its decisions, in documented order.
"""
