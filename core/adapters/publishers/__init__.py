"""How what others publish is fetched: over HTTPS, and with git."""
