"""The life of a run: launched by a question, in threads of the process, under a lease, written to a log that any process can follow,
stored at its end, and closed by the reaper where its process died.
"""
