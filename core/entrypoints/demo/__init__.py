"""The demo: example agents, knowledge and feedback, and what the worker makes of them."""
