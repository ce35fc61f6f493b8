"""What an agent knows, as files that coding tools read: AGENTS.md, CLAUDE.md, rules, skill folders.

It may import what stands below `delivery`, and knows the folder and the repository as ports. Begin
with `sync.py`; `layouts.py` says where each tool looks, `rendering.py` what is written there.
"""
