"""Everything that talks to a model: the ReAct loop, prompts, the chat model, limits and costs.

It may import `knowledge`, `skills`, `decision_table`, `safety` and `domain`.
Begin with `loop/middleware.py`; `offline/` is the model that needs no API key.
"""
