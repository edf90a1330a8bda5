"""From a question to SQL: tables and the keys between them, conditions, figures."""
