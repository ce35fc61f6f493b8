"""`python -m core` is the `skill-worker` command."""

from core.cli import main

main()
