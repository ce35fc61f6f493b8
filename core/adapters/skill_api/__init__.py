"""Calls of the skill HTTP API, and their transport.

It may import domain and skills. Begin with `calls.py`.
"""
