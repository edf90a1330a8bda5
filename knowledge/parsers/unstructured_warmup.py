"""Importing this module makes unstructured ready: takes about four seconds and 170 MB, once in each warm server."""

import os

os.environ["DO_NOT_TRACK"] = "true"
os.environ["UNSTRUCTURED_DISABLE_NOTICE"] = "1"

from knowledge.parsers.spacy_without_torch import spacy  # before unstructured imports it

# isort: split
import unstructured.nlp.tokenize
from unstructured.partition.docx import partition_docx
from unstructured.partition.html import partition_html
from unstructured.partition.pptx import partition_pptx

__all__ = ["partition_docx", "partition_html", "partition_pptx"]

# An empty pipeline in the place of the model that unstructured would download on first use. The model's parts of speech
# only tell prose from titles, which DOCX and HTML state themselves.
_pipeline = spacy.blank("en")
_pipeline.add_pipe("sentencizer")
unstructured.nlp.tokenize._get_nlp = lambda: _pipeline  # type: ignore[assignment]

partition_html(text="<p>The first document loads what the others share.</p>")
