"""The YAML that a user writes."""
