"""A run's conversation with its model: how it begins, and what the model may do in it besides writing."""
