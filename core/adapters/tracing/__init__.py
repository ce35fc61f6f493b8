"""Spans sent out by OpenTelemetry, the only place that knows it.

It may import what stands below the adapters; `app.bootstrap` opens it where tracing is set up, so
that without it no SDK is imported. Begin with `otel.py`.
"""
