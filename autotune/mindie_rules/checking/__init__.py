"""The parts of the service's own configuration checker; `autotune.mindie_rules.checks` is their door."""
