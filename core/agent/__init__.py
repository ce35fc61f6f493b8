"""How the model is asked: the ReAct loop, prompts, the chat model, its limits and its bill.

It may import `knowledge`, `skills`, `decision_table` and `domain`.
Begin with `loop/middleware.py`; `offline/` is the model that needs no key.
"""
