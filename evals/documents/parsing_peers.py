"""markitdown and unstructured, the peers beside our parsers in `evaluate_parsing`: requirements of the exhaustive tests."""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

from copilot_site.lib.errors import InvalidInput
from evals.documents.parsing import Read, tables_in_html, tables_in_markdown

_SENTENCE = re.compile(r".+?(?:[.!?。！？]+|$)", re.DOTALL)
Reader = Callable[[Path], Read]


def peers() -> dict[str, Reader]:
    """Raises InvalidInput where one is not installed."""
    for name in ("markitdown", "unstructured"):
        if find_spec(name) is None:
            raise InvalidInput(f"{name} is not installed; pip install -r requirements/test-all.txt brings it.")
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    return {"markitdown": _markitdown(), "unstructured": _unstructured()}


def _markitdown() -> Reader:
    from markitdown import MarkItDown

    converter = MarkItDown(enable_plugins=False)

    def read(path: Path) -> Read:
        text = converter.convert(path).markdown
        return Read(text, tables_in_markdown(text))

    return read


def _unstructured() -> Reader:
    os.environ |= {"DO_NOT_TRACK": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}
    # It imports spaCy (370 MB with numba) for a tagger that it downloads; parts of speech only tell prose from titles, which no figure
    # of ours looks at.
    sys.modules.setdefault("spacy", ModuleType("spacy"))
    import unstructured.nlp.tokenize
    from unstructured.partition.auto import partition

    setattr(unstructured.nlp.tokenize, "_get_nlp", lambda: _Tagger)  # noqa: B010 - mypy says the same with and without the package

    def read(path: Path) -> Read:
        elements = partition(str(path), languages=[""], strategy="fast")
        tables = [each.metadata.text_as_html for each in elements if each.metadata.text_as_html]
        links = [url for each in elements for url in each.metadata.link_urls or ()]
        links += [link["url"] for each in elements for link in each.metadata.links or ()]
        text = "\n\n".join(each.text for each in elements)
        return Read(text, [table for source in tables for table in tables_in_html(source)], links)

    return read


class _Tagger:
    """What stands where spaCy's pipeline would: sentences and words, none with a part of speech."""

    max_length = sys.maxsize

    def __init__(self, text: str) -> None:
        self.text = text

    def __iter__(self) -> Iterator[SimpleNamespace]:
        return (SimpleNamespace(text=word, tag_="") for word in self.text.split())

    @property
    def sents(self) -> Iterator["_Tagger"]:
        return (_Tagger(found[0].strip()) for found in _SENTENCE.finditer(self.text) if found[0].strip())
