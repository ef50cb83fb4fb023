"""Data sets that engineers use: one module a shape of file."""
