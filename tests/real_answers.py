"""Ten questions of each kind through the whole product with a real model, as a report. Not collected by itself: `make test-real-llm`.

What must hold whatever a model writes is asserted: a run ends, no sentence that facts contradict is shown as checked, what cites nothing is
no answer, nothing of a closed document is told or cited. How much it answers rightly is counted, printed, and written to REAL_LLM_REPORT.

REAL_LLM_QUESTIONS: of each kind, the first so many (10). REAL_LLM_SECONDS: for each (120); one that takes longer ends with what it has.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from agent.attribution.check import Evidence, check_cited_sentence
from agent.attribution.verdict import Verdict
from agent.conversations.sessions import create_session
from agent.events import Complete, StopReason
from agent.models import AgentProfile, Message
from agent.passages.answer import NAME as EXTRACTIVE
from agent.profiles.settings import Options
from agent.providers import breaker
from agent.providers.openai_compatible import ModelLimits
from authz.principal import Principal
from knowledge.models import Chunk, Document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import asked, stored

pytestmark = pytest.mark.django_db

FOLDER = Path(__file__).parent / "evaluation" / "real_model"
KINDS: dict[str, list[dict[str, Any]]] = yaml.safe_load((FOLDER / "questions.yaml").read_text(encoding="utf-8"))
MAX = int(os.environ.get("REAL_LLM_QUESTIONS", "10"))
SECONDS = int(os.environ.get("REAL_LLM_SECONDS", "120"))
TOLD_BY_CLOSED = ("1,375,000", "88,400", "severance budget for it", "will close the Turin branch")
COUNTED = ("asked", "right", "answered", "by the model", "not checked", "found", "nothing", "seconds")
REPORT: dict[str, Counter[str]] = {}


@pytest.fixture(scope="module", autouse=True)
def report() -> Iterator[None]:
    yield
    rows = [f"{'':<22}" + "".join(f"{name:>14}" for name in COUNTED)]
    rows += [f"{kind:<22}" + "".join(f"{counts[name]:>14}" for name in COUNTED) for kind, counts in REPORT.items()]
    print("\n" + "\n".join(rows))
    if path := os.environ.get("REAL_LLM_REPORT"):
        Path(path).write_text(json.dumps(REPORT, indent=1), encoding="utf-8")


@pytest.fixture
def library() -> tuple[Principal, Document]:
    """Whoever asks, and the document that they may not read."""
    base = make_base("Harbour Tools")
    for file in sorted((FOLDER / "documents").iterdir()):
        make_document(base, file.name, file.read_text(encoding="utf-8"), ingested=True)
    text = (FOLDER / "closed" / "board.md").read_text(encoding="utf-8")
    closed = make_document(make_base("Board"), "board.md", text, ingested=True)
    person = make_user("asker")
    allow(person, base)
    return Principal.of(person), closed


@pytest.mark.parametrize("kind", KINDS)
def test_questions(kind: str, library: tuple[Principal, Document]) -> None:
    person, closed = library
    counts = REPORT.setdefault(kind, Counter())
    breaker._breakers.clear()
    patient = Options(profile_id=str(AgentProfile.objects.create(name="patient", most_seconds=SECONDS).pk))
    limits = ModelLimits(first_s=SECONDS, between_s=SECONDS, total_s=SECONDS, attempts=1)
    served = {"base_url": os.environ["REAL_LLM_URL"], "model": "smollm2", "limits": limits, "context_tokens": 8_000}
    with override_settings(LLM=settings.LLM | served):
        for question in KINDS[kind][:MAX]:
            began = time.monotonic()
            session = create_session(person)
            if "after" in question:
                check(stored(asked(person, question["after"], session, options=patient)), closed)
            events = asked(person, question["ask"], session, options=patient)
            assert isinstance(events[-1], Complete)
            row = stored(events)
            check(row, closed)
            count(counts, row, question.get("holds", []), round(time.monotonic() - began))


def check(row: Message, closed: Document) -> None:
    """What holds whatever was written."""
    assert row.is_complete
    assert row.stop_reason in StopReason.values
    assert not [said for said in TOLD_BY_CLOSED if said in row.content], row.content
    assert closed.pk not in {citation.document_id for citation in row.citations.all()}
    if row.stop_reason == StopReason.OK and row.provider:
        assert all(sentence["citations"] for sentence in row.sentences), row.sentences
    if row.provider not in ("", EXTRACTIVE):
        for sentence in row.sentences:
            assert not is_contradicted(row, sentence), sentence


def is_contradicted(row: Message, sentence: dict[str, Any]) -> bool:
    """Whether facts speak against a sentence that is shown as checked."""
    if not sentence.get("is_checked", True):
        return False
    chunks = {citation.number: citation.chunk_id for citation in row.citations.all()}
    texts = {chunk.pk: chunk.text for chunk in Chunk.unscoped.filter(pk__in=chunks.values())}
    evidence = {number: Evidence(texts[pk]) for number, pk in chunks.items() if pk in texts}
    cited = [number for number in sentence["citations"] if number in evidence]
    today = timezone.localdate()
    return (
        check_cited_sentence(sentence["text"], cited, evidence, question="", today=today)[1].verdict
        is Verdict.CONTRADICTED
    )


def count(counts: Counter[str], row: Message, holds: list[str], seconds: int) -> None:
    """right: an answer with one of the words that the right one has, or none where there is none."""
    is_answered = row.stop_reason == StopReason.OK and bool(row.sentences)
    counts["asked"] += 1
    counts["answered"] += is_answered
    counts["right"] += any(held in row.content for held in holds) if is_answered else not holds
    counts["by the model"] += is_answered and row.provider != EXTRACTIVE
    counts["not checked"] += sum(not sentence.get("is_checked", True) for sentence in row.sentences)
    counts["found"] += row.state["output"].get("kind") == "passages"
    counts["nothing"] += row.stop_reason in (StopReason.NO_EVIDENCE, StopReason.PERMISSION_DENIED)
    counts["seconds"] += seconds
