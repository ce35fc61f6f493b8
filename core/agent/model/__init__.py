"""The chat model behind LangChain: built from settings, errors translated, usage counted.

It may import what `agent` may; nothing else in the program builds a model.
Begin with `chat_model.py`.
"""
