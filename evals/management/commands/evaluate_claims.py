"""`manage.py evaluate_claims FILE [--judge NAME] [--json OUT]`: measure sentences that people judged, and list the wrong ones.

Counted is what would be shown, shown with a mark, and left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, Literal

from asgiref.sync import async_to_sync
from django.core.management.base import CommandParser
from pydantic import BaseModel

from agent.attribution.check import Evidence, check_cited_sentence
from agent.attribution.judge import OpenSentence, judge_sentences
from agent.attribution.verdict import Verdict
from agent.evidence.fencing import escape_document_text
from agent.prompting import load_prompt
from agent.providers.base import ChatModel, ModelError
from agent.providers.configured import connect, require_served_model
from agent.providers.openai_compatible import ServedModel
from agent.text.overlap import find_nearest_sentence
from evals.command import Detail, QuestionFileCommand, by_group, read_rows
from evals.scripted_service import Delta, Request, says, scripted_service
from knowledge.text.language import detect_language

JUDGES = ("none", "scripted", "credulous", "model")
COUNTS = ("n", "kept", "marked", "dropped")
OPEN = (Verdict.LIKELY, Verdict.UNSETTLED)
_SENTENCE = re.compile(r'<sentence number="(\d+)"[^>]*>\n(.*?)\n</sentence>', re.DOTALL)
Outcome = Literal["kept", "marked", "dropped"]


class Claim(BaseModel):
    """A sentence about its evidence. kind: document, or table for a query's result. trap: what makes it hard."""

    id: str
    kind: str
    lang: str
    question: str
    evidence: list[str]
    sentence: str
    supported: bool
    trap: str = ""


class Command(QuestionFileCommand):
    help = "Check the sentences of a file of claims, and count which right and wrong ones would be shown."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--judge",
            choices=JUDGES,
            default="none",
            help="who judges what facts leave open: nobody, a script that is right, one that supports all, the configured model",
        )

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        claims = read_rows(options["file"], Claim)
        with _open_judge(options["judge"], claims) as served:
            details = async_to_sync(_details)(claims, options["today"], served)
        return {"n": len(details), **_sides(details), "groups": by_group(details, _sides), "details": details}

    def print_report(self, report: dict[str, Any]) -> None:
        for name, sides in [*report["groups"].items(), ("all", report)]:
            counts = [
                f"{side} " + " ".join(f"{key} {sides[side][key]:>3}" for key in COUNTS) for side in ("right", "wrong")
            ]
            self.stdout.write(f"{name:<16} {'   '.join(counts)}")
        for item in report["details"]:
            if item["is_wrong"]:
                side = "right" if item["supported"] else "wrong"
                why = item["why"] or item["trap"]
                self.stdout.write(f"{item['id']}: {side}, {item['outcome']} ({why}): {item['sentence']}")


async def _details(claims: Sequence[Claim], today: date, served: ServedModel | None) -> list[Detail]:
    """Check each claim. today: what relative times count from. served: the judge of what facts leave open."""
    judge = connect(served) if served else None
    try:
        return [await _detail(claim, today, judge) for claim in claims]
    finally:
        if judge is not None:
            await judge.aclose()


@contextmanager
def _open_judge(name: str, claims: Sequence[Claim]) -> Iterator[ServedModel | None]:
    """Serve the judge of that name, one of `JUDGES`. Raises InvalidInput where no model is configured."""
    if name in ("scripted", "credulous"):
        with scripted_service(_scripted_judge(claims, believes_all=name == "credulous")) as served:
            yield served
    else:
        yield require_served_model() if name == "model" else None


def _scripted_judge(claims: Sequence[Claim], *, believes_all: bool) -> Callable[[Request], Delta]:
    """Script a judge that says what people said, quoting the line of its evidence that shares most words with the sentence.

    believes_all: support every sentence, as a judge does that is too small, or that a document talks to.
    """
    by_text = {escape_document_text(claim.sentence): claim for claim in claims}

    def line(number: str, sentence: str) -> str:
        claim = by_text[sentence]
        text = "\n".join(Evidence(item).says for item in claim.evidence)
        start, end = find_nearest_sentence(claim.sentence, text)
        quote = text[start:end].replace("\n", " ")
        return f'{number} S "{quote}"' if believes_all or claim.supported else f"{number} N"

    def reply(request: Request) -> Delta:
        content = str(request["messages"][-1]["content"])
        return says("\n".join(line(number, sentence) for number, sentence in _SENTENCE.findall(content)))

    return reply


async def _detail(claim: Claim, today: date, judge: ChatModel | None) -> Detail:
    evidence = {n: Evidence(text, is_result=claim.kind == "table") for n, text in enumerate(claim.evidence, 1)}
    _numbers, finding = check_cited_sentence(
        claim.sentence, list(evidence), evidence, question=claim.question, today=today
    )
    is_supported = await _judged(judge, claim, evidence, today) if judge and finding.verdict in OPEN else None
    outcome = _outcome(finding.verdict, is_supported)
    return claim.model_dump(include={"id", "kind", "lang", "sentence", "supported", "trap"}) | {
        "group": f"{claim.kind}/{claim.lang}",
        "outcome": outcome,
        "why": finding.why,
        "is_wrong": outcome == ("dropped" if claim.supported else "kept"),
    }


async def _judged(judge: ChatModel, claim: Claim, evidence: dict[int, Evidence], today: date) -> bool | None:
    """Ask the judge whether the evidence supports the sentence; None where it fails."""
    system = load_prompt("judge", detect_language(claim.question) or "en").text
    sentence = OpenSentence(1, claim.sentence, "", evidence)
    try:
        async for _number, is_supported in judge_sentences(judge, system, claim.question, [sentence], today=today):
            return is_supported
    except ModelError:
        pass
    return None


def _outcome(verdict: Verdict, is_supported: bool | None) -> Outcome:
    """Decide as `agent.attribution.answer_writer` does under a profile that marks."""
    if verdict is Verdict.CONTRADICTED or is_supported is False:
        return "dropped"
    return "marked" if verdict is Verdict.UNSETTLED and is_supported is None else "kept"


def _sides(details: Sequence[Detail]) -> dict[str, dict[str, int]]:
    """Count the outcomes of right and of wrong sentences."""
    sides = {}
    for side, is_right in (("right", True), ("wrong", False)):
        outcomes = Counter(detail["outcome"] for detail in details if detail["supported"] is is_right)
        sides[side] = {name: outcomes.total() if name == "n" else outcomes[name] for name in COUNTS}
    return sides
