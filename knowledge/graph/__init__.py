"""The knowledge graph of a base: what passages name and state (ADR 0026)."""
