"""The host around a campaign: prepared, watched, measured with and without, NPUs waited for."""
