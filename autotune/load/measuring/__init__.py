"""From events to one Measurement or Invalid."""
