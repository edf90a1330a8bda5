"""The life of a run, in three modules: `start` takes a question, `run` walks and stores it, `follow` reads it.

Beside them: the event log that any process can follow, leases and the reaper for processes that die, and what is
reported of a run afterwards (`report`, `telemetry`).
"""
