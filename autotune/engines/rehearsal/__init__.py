"""The simulator as engine, load and clock: a campaign in virtual time."""
