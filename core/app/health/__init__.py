"""What a worker tells of itself while it runs: whether it lives, is ready, and its metrics."""
