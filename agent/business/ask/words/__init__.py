"""What single words and phrases stand for: those of the languages, and those of a layer."""
