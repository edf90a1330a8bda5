"""One file a format; each registers its parser. What several share lies beside this folder."""
