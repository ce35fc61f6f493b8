"""Kill, stop and starve real processes, then count what was lost or done twice."""
