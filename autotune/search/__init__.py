"""Strategies: history -> next move; pure."""
