"""What building a skill in a pod takes: scripts, commands, framed answers, comparison (pure)."""
