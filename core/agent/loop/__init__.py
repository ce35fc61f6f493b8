"""The parts of a ReAct run: its input, loop, messages, tool arguments and events.

It may import what `agent` may; `react_agent` and `react_tools` assemble them.
Begin with `middleware.py`.
"""
