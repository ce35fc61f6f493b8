"""What an agent should see for a task: what matters of what it knows, or nothing, within a budget.

It may import `search` beside it. Begin with `selection.py`, then `rendering.py`.
"""
