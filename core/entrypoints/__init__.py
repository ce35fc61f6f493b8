"""Where people and programs come in: the command line, the HTTP API, the console.

It may import every room but `testing`, and no adapter.
Begin with `service/`, which the API and the console ask, and with `cli/app.py`.
"""
