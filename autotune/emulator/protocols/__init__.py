"""The inference interfaces: what a request asks for, and the bytes of its reply."""
