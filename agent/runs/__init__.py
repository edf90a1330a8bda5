"""The life of a run, in three modules: `start` takes a question, `run` walks and stores it, `follow` reads it.

Beside them: the log that any process can follow, leases and the reaper for processes that die, the threads in which all of it works,
and what is told of a run afterwards (`report`, `telemetry`).
"""
