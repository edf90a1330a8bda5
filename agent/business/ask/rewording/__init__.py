"""What people say in other words, item by item, as what it means: verbs, adjectives, absence, money."""
