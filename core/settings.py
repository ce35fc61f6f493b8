"""The only reader of the environment: every setting, its default, its check and its fix."""
