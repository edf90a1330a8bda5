"""The first messages of a run's conversation: instructions, earlier turns, then the evidence and the question.

The most stable parts come first, so that services can cache them: the instructions, the tools, the earlier turns. Sent
messages are never changed; each call repeats them and appends more.
"""

from collections.abc import Mapping, Sequence

from asgiref.sync import sync_to_async
from django.utils import timezone

from agent.attribution.answer_language import asked_in
from agent.attribution.standing import is_unapproved
from agent.evidence.fencing import escaped, fenced
from agent.evidence.items import verified_mark
from agent.prompting import count_tokens, dated, prompt
from agent.run_state.run import Finding, Run
from agent.run_state.state import Turn
from agent.tools.base import Tool
from agent.tools.linked_tables import tables_for

EVIDENCE_SHARE = 0.4  # of the model's context for the first evidence; the rest is for tools and the answer
FENCE_TOKENS = 40  # of the marks around a passage


async def opening(
    run: Run, offered: Sequence[Tool], briefings: Sequence[str], evidence: Mapping[int, Finding]
) -> list[Turn]:
    """Return the first messages of a run.

    offered: the tools the model may call, none where it only writes. briefings: their instructions. evidence: by
    number.
    """
    system = Turn(role="system", content=_orders(run, offered, briefings))
    tables = await sync_to_async(tables_for)(run) if any(tool.name == "database_query" for tool in offered) else ""
    run.inside_texts += [tables] if tables else []
    return [system, *run.history, Turn(role="user", content=_question(run, evidence, tables))]


def _orders(run: Run, offered: Sequence[Tool], briefings: Sequence[str]) -> str:
    language = asked_in(run)
    names = ["answer", *(["tools"] if offered else [])]
    names += ["answer_outside"] if any(tool.brings == "outside" for tool in offered) else []
    names += ["answer_verified"] if run.verified else []
    names += [f"tone_{run.profile.tone}"] if run.profile.tone else []
    parts = [run.use(prompt(name, language)) for name in names]
    return dated("\n\n".join([*parts, *briefings]), timezone.localdate()) + run.attached.prompt(language, use=run.use)


def _question(run: Run, evidence: Mapping[int, Finding], tables: str) -> str:
    """Return the evidence, the description of the data, and the question."""
    blocks = [
        fenced(finding.item, number=number, is_unapproved=is_unapproved(finding), verified=verified_mark(finding))
        for number, finding in evidence.items()
    ]
    blocks += [tables] if tables else []
    if run.workings:
        blocks.append("\n".join(["<calculations>", *map(escaped, run.workings), "</calculations>"]))
    return "\n".join([*blocks, "", run.state.input.normalized_query, *_language_asked(run)])


def _language_asked(run: Run) -> list[str]:
    return ["", run.use(prompt("answer_language", asked_in(run)))] if run.answers_in else []


def fitting(run: Run) -> dict[int, Finding]:
    """Select the evidence to begin with, by number: verified first, then approved, as much as fits."""
    assert run.model is not None
    left = int(run.model.context_tokens * EVIDENCE_SHARE)
    chosen: dict[int, Finding] = {}
    for number, finding in sorted(
        run.numbered.items(), key=lambda item: (not item[1].verified, is_unapproved(item[1]))
    ):
        left -= count_tokens(finding.item.text) + FENCE_TOKENS
        if left < 0:
            break
        chosen[number] = finding
    return chosen
