"""The wiring of the project. Imported before anything else in every process, so the limits of numeric libraries are set here."""

import os

# Our products of matrices take less than a millisecond: a second BLAS thread waits by spinning, and that costs four
# times the work itself. The embedder runs texts side by side instead.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
