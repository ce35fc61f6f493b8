"""Mutation testing of the modules that carry the promises; see docs/explanation/mutation.md."""
