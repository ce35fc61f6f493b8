"""Contract suites: what every adapter of a port must do, the shipped fakes included.

It may import what `testing` may; plug-ins inherit a suite and supply its fixtures.
Begin with `replies.py`, the shortest.
"""
