"""The study, the crash journal, the history and the lock."""
