"""Readers of what other benchmark tools print, each into one BenchmarkReading."""
