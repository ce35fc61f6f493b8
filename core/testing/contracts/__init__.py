"""Contract suites: what every adapter of a port must do, the shipped fakes included."""
