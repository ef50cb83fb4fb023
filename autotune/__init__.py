"""Find the batch size with the highest sustained throughput of an LLM service, and prove it."""

__version__ = "0.1.0"
