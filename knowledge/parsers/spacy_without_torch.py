"""spaCy without PyTorch, which it takes wherever it is installed: two seconds and 180 MB for what no parser uses."""

import sys
from importlib import import_module

_keeps_out = "torch" not in sys.modules
if _keeps_out:
    sys.modules["torch"] = None  # type: ignore[assignment]
spacy = import_module("spacy")
if _keeps_out:
    del sys.modules["torch"]
