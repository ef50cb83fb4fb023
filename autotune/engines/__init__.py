"""Settings -> running service."""
