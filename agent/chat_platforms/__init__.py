"""Questions asked in a chat platform of the company, answered there: under the rights of whoever asks, in groups of all of them."""
