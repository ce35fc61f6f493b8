"""Contract suites of the ports that others implement too; the fakes pass them as well.

It may import what `testing` may; plug-ins inherit a suite and supply its fixtures.
Begin with `embeddings.py`, the shortest.
"""
