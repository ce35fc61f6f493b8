"""How people and programs reach the worker: command line, HTTP API, console, doctor, demo.

May import every other room except `testing`; nothing imports this one. Begin with `cli/app.py` (the
command tree), `api/app.py` (the routes) or `service/session.py` (who may see what).
"""
