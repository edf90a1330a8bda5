"""Tables of spreadsheets, asked in SQL by a child process that can reach nothing."""
