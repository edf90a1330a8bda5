"""The first page of the administration: the state of the system, and work to do."""
