"""An old answer as it was: who asked what under which rights, what made it, on which evidence; and what they would get now."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agent.models import Message, Role
from agent.oversight.trial import Trial, try_question
from agent.run_report import RunReport, run_report
from authz.models import PermissionSnapshot
from authz.principal import Principal
from authz.snapshot import is_intact
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.governance.evidence import Today, texts_today


@dataclass(frozen=True)
class Used:
    """A piece of evidence as it was then. today: None where it is no passage. is_cited: the answer stands on it."""

    evidence_id: str
    kind: str
    title: str
    page: int | None
    score: float | None
    hash: str
    perm_snapshot_id: str
    is_cited: bool
    today: Today | None
    is_found_now: bool


@dataclass(frozen=True)
class Now:
    """What the same person would get today; problem: why there is nothing to compare with."""

    trial: Trial | None
    problem: str
    is_same_text: bool


@dataclass(frozen=True)
class Replay:
    """snapshot: None where the answer was made before snapshots were taken, or failed before rights were read."""

    message: Message
    question: str
    asker: User
    snapshot: PermissionSnapshot | None
    is_snapshot_intact: bool
    versions: tuple[tuple[str, str], ...]
    sql: str
    report: RunReport
    evidence: tuple[Used, ...]
    now: Now


def answers() -> QuerySet[Message]:
    """Every answer, the latest first; the list shows who got it and how it ended, never what was asked."""
    return Message.objects.filter(role=Role.ASSISTANT).select_related("session__user").order_by("-created_at", "-id")


def get_answer(message_id: UUID) -> Message:
    """Raises NotFound."""
    found = answers().filter(pk=message_id).first()
    if found is None:
        raise NotFound(_("There is no such answer; its conversation may be deleted."))
    return found


def replay(viewer: Principal, message: Message, *, language: str) -> Replay:
    """Read what is stored and try the question again; the run's report is the viewer's own. Call it within `read_only()`."""
    question, state = question_of(message), message.state
    asker = message.session.user
    now = _now(Principal.of(asker), question, message, language)
    snapshot = _snapshot(state)
    return Replay(
        message=message,
        question=question,
        asker=asker,
        snapshot=snapshot,
        is_snapshot_intact=snapshot is not None and is_intact(snapshot),
        versions=tuple(_lines(state.get("versions") or {"provider": message.provider})),
        sql=((state.get("tools") or {}).get("sql") or {}).get("generated_sql", ""),
        report=run_report(viewer, message),
        evidence=tuple(_used(state, now)),
        now=now,
    )


def question_of(message: Message) -> str:
    """What was asked: the run's own record of it, else the question before the answer."""
    stored = (message.state.get("input") or {}).get("query")
    if stored:
        return str(stored)
    asked = message.session.messages.filter(role=Role.USER, created_at__lte=message.created_at)
    return asked.order_by("-created_at").values_list("content", flat=True).first() or ""


def snapshot_id(message: Message) -> str:
    return str((message.state.get("authz") or {}).get("perm_snapshot_id", ""))


def _lines(versions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and version of what made an answer, one line each, prompts by their names."""
    for name, value in versions.items():
        if isinstance(value, Mapping):
            yield from ((f"{name} {inner}", str(each)) for inner, each in value.items())
        elif value:
            yield name, str(value)


def _snapshot(state: Mapping[str, Any]) -> PermissionSnapshot | None:
    pk = (state.get("authz") or {}).get("perm_snapshot_id", "")
    return PermissionSnapshot.objects.select_related("folders").filter(pk=pk).first()


def _now(asker: Principal, question: str, message: Message, language: str) -> Now:
    if asker.is_nobody:
        return Now(None, _("The account is disabled: it would get no answer."), is_same_text=False)
    try:
        trial = try_question(asker, question, language=language)
    except CopilotError as problem:
        return Now(None, str(problem), is_same_text=False)
    return Now(trial, "", is_same_text=trial.text == message.content)


def _used(state: Mapping[str, Any], now: Now) -> list[Used]:
    items = state.get("evidence_items", ())
    cited = {each["evidence_id"] for each in (state.get("output") or {}).get("final_citations", ())}
    found = {each.evidence_id for each in now.trial.evidence} if now.trial else set()
    passages = {
        UUID(each["source"]["chunk_id"]): each["hash"] for each in items if (each.get("source") or {}).get("chunk_id")
    }
    today = texts_today(passages)
    return [_piece(each, cited, found, today) for each in items]


def _piece(item: Mapping[str, Any], cited: set[str], found: set[str], today: Mapping[UUID, Today]) -> Used:
    source = item.get("source") or {}
    chunk_id = source.get("chunk_id")
    return Used(
        evidence_id=item["evidence_id"],
        kind=item["type"],
        title=source.get("title", ""),
        page=source.get("page"),
        score=item.get("score"),
        hash=item["hash"],
        perm_snapshot_id=(item.get("authz") or {}).get("perm_snapshot_id", ""),
        is_cited=item["evidence_id"] in cited,
        today=today[UUID(chunk_id)] if chunk_id else None,
        is_found_now=item["evidence_id"] in found,
    )
