"""Importing this module makes unstructured ready, without spaCy: about a second and 150 MB, once in each warm server.

unstructured imports spaCy for a tagger that it downloads on first use, and numba for the columns of PDF pages. Parts of speech only tell
prose from titles, which DOCX, PPTX and HTML state themselves, and PDF has a reader of ours: neither is installed (370 MB), and
`_Tagger` stands in its place.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

os.environ["DO_NOT_TRACK"] = "true"
os.environ["UNSTRUCTURED_DISABLE_NOTICE"] = "1"
sys.modules["spacy"] = ModuleType("spacy")  # named by unstructured, which calls nothing of it before the tagger

# isort: split
import unstructured.nlp.tokenize
from unstructured.partition.docx import partition_docx
from unstructured.partition.html import partition_html
from unstructured.partition.pptx import partition_pptx

__all__ = ["partition_docx", "partition_html", "partition_pptx"]

_SENTENCE = re.compile(r".+?(?:[.!?。！？]+|$)", re.DOTALL)
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class _Text:
    """A text, a sentence or a token as unstructured reads them from spaCy; none has a part of speech."""

    text: str
    tag_: str = ""

    def __iter__(self) -> Iterator["_Text"]:
        return (_Text(found[0]) for found in _TOKEN.finditer(self.text))

    @property
    def sents(self) -> Iterator["_Text"]:
        return (_Text(found[0].strip()) for found in _SENTENCE.finditer(self.text) if found[0].strip())


class _Tagger:
    """What stands where spaCy's pipeline would."""

    max_length = sys.maxsize

    def __call__(self, text: str) -> _Text:
        return _Text(text)


unstructured.nlp.tokenize._get_nlp = _Tagger  # type: ignore[assignment]

partition_html(text="<p>The first document loads what the others share.</p>")
