"""Wordings of a verified question: their keys for equality, and their vectors."""

import re
from collections.abc import Sequence
from hashlib import sha256

import structlog
from django.utils.translation import gettext as _

from agent.models import VerifiedAnswer, VerifiedWording
from copilot_site.lib.errors import InvalidInput
from knowledge.embedding.base import EmbeddingError
from knowledge.retrieval.engine import load_sentence_embedder
from knowledge.text.normalise import normalise_text

log = structlog.get_logger(__name__)
QUESTION_CHARACTERS = 2_000
MAX_WORDINGS = 20  # of one answer, beside its question
_WORD = re.compile(r"\w+")


def hash_question(question: str) -> str:
    """Return the SHA-256 of a question's words, ignoring case and punctuation."""
    return sha256(" ".join(_WORD.findall(normalise_text(question).casefold())).encode()).hexdigest()


def normalise_question(text: str) -> str:
    """Return a question with normalised white space. Raises InvalidInput for an empty or too long one."""
    asked = " ".join(normalise_text(text).split())
    if not 0 < len(asked) <= QUESTION_CHARACTERS:
        raise InvalidInput(_("Give the question in at most %(most)s characters.") % {"most": QUESTION_CHARACTERS})
    return asked


def make_wordings(question: str, others: Sequence[str]) -> list[VerifiedWording]:
    """Return the question and its other wordings, each once, with their vectors; unsaved. Raises InvalidInput."""
    texts = {hash_question(text): text for text in map(normalise_question, [*others[::-1], question])}
    if len(texts) > MAX_WORDINGS + 1:
        raise InvalidInput(_("A verified answer has at most %(most)s other wordings.") % {"most": MAX_WORDINGS})
    rows = [VerifiedWording(text=text, key=key) for key, text in reversed(texts.items())]
    return embed_wordings(rows)


def embed_wordings(rows: list[VerifiedWording]) -> list[VerifiedWording]:
    """Set the current embedder's vectors on the rows; where it fails, they remain findable by their words."""
    embedder = load_sentence_embedder()
    try:
        for row in rows:
            row.vector, row.space = embedder.embed_query(row.text), embedder.space
    except EmbeddingError as error:
        log.warning("verified_answer.not_embedded", error=str(error))
    return rows


def replace_wordings(answer: VerifiedAnswer, rows: Sequence[VerifiedWording]) -> None:
    """Replace the wordings of a stored answer."""
    answer.wordings.all().delete()
    for row in rows:
        row.answer = answer
    VerifiedWording.objects.bulk_create(rows)


def embed_missing_wordings(most: int = 500) -> int:
    """Embed wordings of texts without a vector in the current space; return their number."""
    rows = VerifiedWording.objects.filter(answer__folder__isnull=False).exclude(space=load_sentence_embedder().space)
    found = embed_wordings(list(rows[:most]))
    VerifiedWording.objects.bulk_update(found, ["vector", "space"])
    return len(found)
