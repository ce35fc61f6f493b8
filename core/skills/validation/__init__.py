"""The rules for skills, on the standard library alone: they also run as one file in a pod."""
