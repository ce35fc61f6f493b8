"""`python -m core` is the `skill-worker` command."""

from core.entrypoints.cli import main

main()
