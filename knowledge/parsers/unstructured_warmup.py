"""Importing this module makes unstructured ready: takes about a second and 150 MB, once in each warm server."""

import os

os.environ["DO_NOT_TRACK"] = "true"
os.environ["UNSTRUCTURED_DISABLE_NOTICE"] = "1"

from knowledge.parsers.spacy_stand_in import Tagger  # before unstructured imports spaCy

# isort: split
import unstructured.nlp.tokenize
from unstructured.partition.docx import partition_docx
from unstructured.partition.html import partition_html
from unstructured.partition.pptx import partition_pptx

__all__ = ["partition_docx", "partition_html", "partition_pptx"]

unstructured.nlp.tokenize._get_nlp = Tagger  # type: ignore[assignment]

partition_html(text="<p>The first document loads what the others share.</p>")
