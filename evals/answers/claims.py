"""Measures the check of sentences on claims that people judged: what would be shown, shown with a mark, and left out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel

from agent.attribution.check import Evidence, check_cited
from agent.attribution.judge import OpenSentence, judged
from agent.attribution.verdict import Finding, Verdict
from agent.fencing import escaped
from agent.prompting import prompt
from agent.providers.base import ChatModel, ModelError
from agent.text.overlap import nearest
from evals.model.scripted_service import Delta, Request, says
from knowledge.text.language import language_of

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


@dataclass
class ClaimReport:
    """groups: counts of what became of right and wrong sentences, by kind and language. details: every sentence."""

    groups: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    details: list[dict[str, Any]] = field(default_factory=list)

    def add(self, claim: Claim, outcome: Outcome, finding: Finding) -> None:
        for group in ("all", f"{claim.kind}/{claim.lang}"):
            sides = self.groups.setdefault(group, {side: _nothing() for side in ("right", "wrong")})
            counts = sides["right" if claim.supported else "wrong"]
            counts["n"] += 1
            counts[outcome] += 1
        is_wrong = outcome == ("dropped" if claim.supported else "kept")
        said = claim.model_dump(include={"id", "kind", "lang", "sentence", "supported", "trap"})
        self.details.append(said | {"outcome": outcome, "why": finding.why, "is_wrong": is_wrong})

    def as_json(self) -> dict[str, Any]:
        """n, right and wrong over all; groups: the same by kind and language; details."""
        groups = dict(self.groups)
        whole = groups.pop("all", {side: _nothing() for side in ("right", "wrong")})
        return {"n": len(self.details), **whole, "groups": groups, "details": self.details}


async def measured(claims: Sequence[Claim], *, today: date, judge: ChatModel | None = None) -> ClaimReport:
    """What becomes of each claim. today: what its relative times count from. judge: reads what facts leave open."""
    report = ClaimReport()
    for claim in claims:
        evidence = {n: Evidence(text, is_result=claim.kind == "table") for n, text in enumerate(claim.evidence, 1)}
        _numbers, finding = check_cited(claim.sentence, list(evidence), evidence, question=claim.question, today=today)
        is_said = await _judged(judge, claim, evidence, today) if judge and finding.verdict in OPEN else None
        report.add(claim, _outcome(finding.verdict, is_said), finding)
    return report


async def _judged(judge: ChatModel, claim: Claim, evidence: dict[int, Evidence], today: date) -> bool | None:
    """What the judge says; None where it fails."""
    system, sentence = (
        prompt("judge", language_of(claim.question) or "en").text,
        OpenSentence(1, claim.sentence, "", evidence),
    )
    try:
        async for _number, is_said in judged(judge, system, claim.question, [sentence], today=today):
            return is_said
    except ModelError:
        pass
    return None


def scripted_judge(claims: Sequence[Claim], *, believes_all: bool = False) -> Callable[[Request], Delta]:
    """A scripted service that says of each sentence what people said, with the line of what it was shown that has most of its words.

    believes_all: it supports every sentence, as a judge does that a document talks to, or that is too small.
    """
    by_text = {escaped(claim.sentence): claim for claim in claims}

    def line(number: str, said: str) -> str:
        claim = by_text[said]
        text = "\n".join(Evidence(each).says for each in claim.evidence)
        start, end = nearest(claim.sentence, text)
        quote = text[start:end].replace("\n", " ")
        return f'{number} S "{quote}"' if believes_all or claim.supported else f"{number} N"

    def reply(request: Request) -> Delta:
        content = str(request["messages"][-1]["content"])
        return says("\n".join(line(number, said) for number, said in _SENTENCE.findall(content)))

    return reply


def _outcome(verdict: Verdict, is_said: bool | None) -> Outcome:
    """As `agent.attribution.answer_writer` decides under a profile that marks."""
    if verdict is Verdict.CONTRADICTED or is_said is False:
        return "dropped"
    return "marked" if verdict is Verdict.UNSETTLED and is_said is None else "kept"


def _nothing() -> dict[str, int]:
    return {"n": 0, "kept": 0, "marked": 0, "dropped": 0}
