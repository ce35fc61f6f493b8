"""The parts of the ReAct run: what it starts from, its loop, its messages and events."""
