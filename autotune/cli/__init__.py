"""One module a command; wiring; the one error boundary."""
