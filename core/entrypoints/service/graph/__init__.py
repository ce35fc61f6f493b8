"""Agents, their skills and who taught what, as one graph that people can look at."""
