"""Workload, HTTP client and measuring."""
