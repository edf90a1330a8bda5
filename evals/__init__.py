"""Hold benchmarks and evaluations with their commands, for development and the demo, not for production. No other app imports them."""
