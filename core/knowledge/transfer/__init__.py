"""Bulk import and export of knowledge as JSON lines; imports pass the change gate.

It may import what `knowledge` may, and reaches the gate through its port.
Begin with `importer.py`; `pipeline.py` runs several lines at once.
"""
