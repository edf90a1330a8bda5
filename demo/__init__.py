"""The fictional demo company: who works there, who may read what, and its documents."""
