"""An old answer as it was: question, asker, rights, versions and evidence; and the answer that they would get now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent.models import Message, MessageRole
from agent.oversight.dry_run import DryRun, dry_run_question
from agent.run_state.state import EvidenceItem
from agent.runs.report import NAMES, RunReport, build_run_report
from audit.record import DeferredEntries
from authz.models import PermissionSnapshot
from authz.principal import Principal
from authz.rights.snapshot import is_intact
from business.results.shown_query import QueryShown
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.selectors import Today, compare_passage_texts

MADE_WITH = {  # of `agent.runs.persistence.collect_versions`
    "product": gettext_lazy("Version of this product"),
    "provider": gettext_lazy("Written by"),
    "model": gettext_lazy("Language model"),
    "profile": gettext_lazy("Assistant"),
    "prompts": gettext_lazy("Prompt"),
    "embedder": gettext_lazy("Embedder"),
    "embedder_model": gettext_lazy("Model of the embedder"),
    "reranker": gettext_lazy("Reranker"),
    "reranker_model": gettext_lazy("Model of the reranker"),
}


@dataclass(frozen=True)
class Used:
    """A piece of evidence as it was then.

    today: a passage's text, or a result's comparison, as of now; None where there is nothing to compare with. is_cited:
    the answer cites it.
    """

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

    @property
    def is_result(self) -> bool:
        return self.kind == "sql_result"


@dataclass(frozen=True)
class Now:
    """The answer that the same person would get today; problem: why there is nothing to compare with.

    is_same_text: including the results of data sources.
    """

    trial: DryRun | None
    problem: str
    is_same_text: bool


@dataclass(frozen=True)
class Replay:
    """snapshot: None where the answer is older than snapshots, or failed before rights were read.

    results: of data sources, as they were shown to the person.
    """

    message: Message
    question: str
    asker: User
    snapshot: PermissionSnapshot | None
    is_snapshot_intact: bool
    versions: tuple[tuple[str, str], ...]
    sql: str
    results: tuple[QueryShown, ...]
    report: RunReport
    evidence: tuple[Used, ...]
    now: Now


def list_all_answers() -> QuerySet[Message]:
    """Return every answer, the latest first; the list shows who got it and how it ended, never the question."""
    return (
        Message.objects.filter(role=MessageRole.ASSISTANT)
        .select_related("session__user")
        .order_by("-created_at", "-id")
    )


def get_answer(message_id: UUID) -> Message:
    """Return an answer. Raises NotFound."""
    found = list_all_answers().filter(pk=message_id).first()
    if found is None:
        raise NotFound(_("There is no such answer; its conversation may have been deleted."))
    return found


def build_replay(viewer: Principal, message: Message, *, language: str, withheld: DeferredEntries) -> Replay:
    """Read what is stored and ask the question again; the run's report follows the viewer's own rights.

    Call it within `looking()`.
    """
    question, state = find_stored_question(message), message.state
    asker = message.session.user
    now = _ask_again_now(Principal.of(asker), question, message, language, withheld)
    snapshot = _find_snapshot(state)
    return Replay(
        message=message,
        question=question,
        asker=asker,
        snapshot=snapshot,
        is_snapshot_intact=snapshot is not None and is_intact(snapshot),
        versions=tuple(_yield_version_lines(state.get("versions") or {"provider": message.provider})),
        sql=((state.get("tools") or {}).get("sql") or {}).get("generated_sql", ""),
        results=tuple(QueryShown.model_validate(row.result) for row in message.queries.all() if row.result),
        report=build_run_report(viewer, message),
        evidence=tuple(_list_used_evidence(state, now)),
        now=now,
    )


def find_stored_question(message: Message) -> str:
    """Return the question: as recorded in the run, else the message before the answer."""
    stored = (message.state.get("input") or {}).get("query")
    if stored:
        return str(stored)
    return message.parent.content if message.parent else ""


def snapshot_id_of(message: Message) -> str:
    return str((message.state.get("authz") or {}).get("perm_snapshot_id", ""))


def _yield_version_lines(versions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the components that made an answer with their versions, one line each, prompts by their names."""
    for name, value in versions.items():
        label = str(MADE_WITH.get(name, name))
        if isinstance(value, Mapping):
            yield from ((f"{label} {inner}", str(entry)) for inner, entry in value.items())
        elif value:
            yield label, str(NAMES.get(value, value))


def _find_snapshot(state: Mapping[str, Any]) -> PermissionSnapshot | None:
    pk = (state.get("authz") or {}).get("perm_snapshot_id", "")
    return PermissionSnapshot.objects.select_related("folders").filter(pk=pk).first()


def _ask_again_now(asker: Principal, question: str, message: Message, language: str, withheld: DeferredEntries) -> Now:
    if asker.is_nobody:
        return Now(None, _("The account is disabled: it would get no answer."), is_same_text=False)
    try:
        trial = dry_run_question(asker, question, language=language, withheld=withheld)
    except CopilotError as problem:
        return Now(None, str(problem), is_same_text=False)
    then = [row.result["sha256"] for row in message.queries.all() if row.result]
    is_same = trial.text == message.content and [result.sha256 for result in trial.results] == then
    return Now(trial, "", is_same_text=is_same)


def _list_used_evidence(state: Mapping[str, Any], now: Now) -> list[Used]:
    items = state.get("evidence_items", ())
    cited = {entry["evidence_id"] for entry in (state.get("output") or {}).get("final_citations", ())}
    found = now.trial.evidence if now.trial else ()
    passages = {
        UUID(one["source"]["chunk_id"]): one["hash"] for one in items if (one.get("source") or {}).get("chunk_id")
    }
    today = compare_passage_texts(passages)
    return [
        _make_used_evidence(entry, entry["evidence_id"] in cited, _compare_with_today(entry, today, found), found)
        for entry in items
    ]


def _compare_with_today(
    item: Mapping[str, Any], passages: Mapping[UUID, Today], found: Sequence[EvidenceItem]
) -> Today | None:
    """Return whether evidence is unchanged; None where it cannot be compared.

    Query ids differ between runs, so a result is compared with those of the same source now.
    """
    source = item.get("source") or {}
    if source.get("chunk_id"):
        return passages[UUID(source["chunk_id"])]
    if item["type"] == "web_page":
        return None  # a review sends nothing outside
    results = [entry.hash for entry in found if entry.type == "sql_result" and entry.source.db == source.get("db")]
    if not results:
        return None
    return Today.SAME if item["hash"] in results else Today.CHANGED


def _make_used_evidence(
    item: Mapping[str, Any], is_cited: bool, today: Today | None, found: Sequence[EvidenceItem]
) -> Used:
    source = item.get("source") or {}
    is_query = item["type"] == "sql_result" and not source.get("chunk_id")
    return Used(
        evidence_id=item["evidence_id"],
        kind=item["type"],
        title=source.get("title", ""),
        page=source.get("page"),
        score=item.get("score"),
        hash=item["hash"],
        perm_snapshot_id=(item.get("authz") or {}).get("perm_snapshot_id", ""),
        is_cited=is_cited,
        today=today,
        is_found_now=(today is Today.SAME) if is_query else item["evidence_id"] in {one.evidence_id for one in found},
    )
