"""Kills, stops and starves real processes, and then counts what was lost or done twice."""
