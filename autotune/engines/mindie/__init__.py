"""MindIE's daemon as an engine."""
