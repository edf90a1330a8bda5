"""PostgreSQL (with pgvector) and Valkey out of Python wheels, for machines that have neither."""
