"""Steady state, intervals, comparison and stopping; pure."""
