"""Benchmarks: every speed claim of the project, measured beside what it is compared with. See README.md."""
