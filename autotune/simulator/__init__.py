"""The continuous-batching scheduler in virtual time; pure."""
