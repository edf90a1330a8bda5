"""From a statement that somebody wrote to the logical query that says the same, where one can."""
