"""The host under the service: governor, huge pages, NUMA nodes, and what the NPUs say of themselves."""
