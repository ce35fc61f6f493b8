"""Run the `skill-worker` command with `python -m core`."""

from core.entrypoints.cli import main

main()
