"""The HTTP API: parse a call, ask the desk, render what it gives."""
