"""What stands where unstructured would load spaCy: importing this module comes before it.

unstructured imports spaCy for a tagger that it downloads on first use, and numba for the columns of PDF pages. Parts of speech only tell
prose from titles, which DOCX, PPTX and HTML state themselves, and PDF has a reader of ours: neither is installed (370 MB).
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

sys.modules["spacy"] = ModuleType("spacy")  # unstructured calls nothing of it before the tagger

_SENTENCE = re.compile(r".+?(?:[.!?。！？]+|$)", re.DOTALL)
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Text:
    """A text, a sentence or a token as unstructured reads them from spaCy; none has a part of speech."""

    text: str
    tag_: str = ""

    def __iter__(self) -> Iterator["Text"]:
        return (Text(found[0]) for found in _TOKEN.finditer(self.text))

    @property
    def sents(self) -> Iterator["Text"]:
        return (Text(found[0].strip()) for found in _SENTENCE.finditer(self.text) if found[0].strip())


class Tagger:
    """What stands where spaCy's pipeline would."""

    max_length = sys.maxsize

    def __call__(self, text: str) -> Text:
        return Text(text)
