"""Agents, their skills and who taught what, as one graph for people to read."""
