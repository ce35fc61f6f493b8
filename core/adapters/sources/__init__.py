"""Where feedback comes from: each source is an adapter of the port `FeedbackSource`."""
