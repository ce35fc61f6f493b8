"""Agent Skills as folders in memory: read, validated, edited, packaged, and how they refer.

Imports nothing of the project but `domain`. Begin with `bundle/` (a folder and its zip), then
`validation/check.py` (the rules) and `document/edits.py` (edits of SKILL.md).
"""
