"""The request and reply forms of the services: one module a family."""
