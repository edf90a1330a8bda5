"""From items to one question: conditions, groups, figures, lists, ranks, and what is made of figures."""
