"""How the interpreter of a web process is set."""

SWITCH_S = 0.001
"""After how long a thread lets another one run. A question that is taken waits for the database some ten times; with Python's own 5 ms
it waits each time for every thread that computes. 1 ms costs no throughput that can be measured (ADR 0019)."""
