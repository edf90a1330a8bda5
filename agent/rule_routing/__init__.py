"""What kind of question it is and which steps it has, by rules: for when there is no model, or it fails."""
