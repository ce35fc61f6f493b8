"""A worker's health: whether it is alive, ready, and its metrics.

It may import domain and other parts of `app`. Begin with `health.py`.
"""
