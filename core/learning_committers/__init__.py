"""One committer a kind of knowledge; they do not know each other."""
