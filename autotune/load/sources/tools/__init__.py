"""The programs that a profile may name as the source of load: one module each."""
