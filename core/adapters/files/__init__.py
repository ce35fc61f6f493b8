"""A folder on disk, and the git repository that it is in.

It may import pure code below. Begin with `folder.py`.
"""
