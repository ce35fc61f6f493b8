"""The HTTP API: parse a call, ask the service, render its answer."""
