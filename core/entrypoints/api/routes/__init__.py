"""The routes of the API, one file for each thing it is about."""
