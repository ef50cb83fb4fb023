"""HTTP streams at fixed concurrency, cheap enough to share a host with the service."""
