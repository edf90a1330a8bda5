"""Change verified answers: texts by the keepers of their folder, statements by the keepers of their data source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import VerifiedAnswer, VerifiedSource, VerifiedWording
from agent.verified_answers.selectors import get_managed_answer
from agent.verified_answers.wordings import hash_question, make_wordings, normalise_question, replace_wordings
from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, require_right
from business.models import DataSource
from business.parsing.model.free_form import find_made_up_result
from business.parsing.model.selects import parse_statement
from business.sources.grants import list_wholly_askable_sources, require_manager
from business.sources.services import OpenSource
from business.statements.run_query import QueryResult, run_query
from business.statements.verified_sql import compute_layer_sha256
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Chunk, Document, Folder
from knowledge.text.normalise import normalise_text

TEXT_CHARACTERS = 8_000
MAX_SOURCES = 20


@dataclass(frozen=True)
class VerifiedSpan:
    """A cited span of a document. start, end: as in the answer that cited it."""

    document_id: UUID
    chunk_id: UUID
    start: int
    end: int


@dataclass(frozen=True)
class KeeperInput:
    """A keeper's input for a text. documents: cited as a whole; data_sources: by name.

    passages: of the answer it is saved from.
    """

    question: str
    text: str
    wordings: Sequence[str] = ()
    expires_on: date | None = None
    documents: Sequence[UUID] = ()
    data_sources: Sequence[str] = ()
    passages: Sequence[VerifiedSpan] = ()


def save_verified_text(
    principal: Principal, given: KeeperInput, *, folder_id: UUID, answer_id: UUID | None = None, replaces: bool = False
) -> VerifiedAnswer:
    """Store a verified text in a folder, as verified by this person today.

    answer_id: the answer to change. replaces: replace the folder's answer to this question, if any. Raises NotFound
    (folder, document, data source or answer), PermissionDenied unless they manage the folder, InvalidInput, Conflict
    where the folder has an answer to the question.
    """
    question, text = normalise_question(given.question), _validate_text(given.text)
    _require_future_day(given.expires_on)
    wordings = make_wordings(question, given.wordings)  # before the transaction: another server may embed
    tidy = replace(given, question=question, text=text)
    return _store_answer(principal, tidy, wordings, folder_id, answer_id, replaces=replaces)


@transaction.atomic
def _store_answer(
    principal: Principal,
    given: KeeperInput,
    wordings: list[VerifiedWording],
    folder_id: UUID,
    answer_id: UUID | None,
    *,
    replaces: bool,
) -> VerifiedAnswer:
    answer = get_managed_answer(principal, answer_id) if answer_id else VerifiedAnswer()
    if answer.source_id is not None:
        raise InvalidInput(_("This answer is a query: correct it in a conversation."))
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.MANAGE, folder)
    key = hash_question(given.question)
    known = VerifiedAnswer.unscoped.select_for_update().filter(folder=folder, question_key=key).exclude(pk=answer.pk)
    if (other := known.first()) is not None:
        if not replaces:
            raise Conflict(_("This folder already has a verified answer to this question."))
        answer = get_managed_answer(principal, other.pk)
    sources = _resolve_sources(principal, given, answer)
    answer.folder, answer.question, answer.question_key = folder, given.question, key
    answer.text, answer.expires_on = given.text, given.expires_on
    _mark_as_verified(principal, answer)
    replace_wordings(answer, wordings)
    answer.sources.all().delete()
    for source in sources:
        source.answer = answer
    VerifiedSource.objects.bulk_create(sources)
    record_action(principal, Action.VERIFIED_SAVED, answer, detail={"folder": str(folder.pk), "sources": len(sources)})
    return answer


def _mark_as_verified(principal: Principal, answer: VerifiedAnswer) -> None:
    answer.verified_by_id, answer.verified_at, answer.flag = principal.user_id, timezone.now(), ""
    answer.save()


def _validate_text(given: str) -> str:
    text = normalise_text(given).strip()
    if not 0 < len(text) <= TEXT_CHARACTERS:
        raise InvalidInput(_("Give the answer in at most %(most)s characters.") % {"most": TEXT_CHARACTERS})
    return text


def _require_future_day(day: date | None) -> None:
    if day is not None and day < timezone.localdate():
        raise InvalidInput(_("The day until which the answer is valid has passed."))


def _resolve_sources(principal: Principal, given: KeeperInput, before: VerifiedAnswer) -> list[VerifiedSource]:
    """Return the cited sources, as they are now. A document with a cited passage keeps it."""
    cited = list(given.passages)
    if before.pk and not cited:
        kept = before.sources.filter(document__in=list(given.documents), chunk_id__isnull=False)
        cited = [
            VerifiedSpan(item.document_id, item.chunk_id, item.start, item.end)
            for item in kept
            if item.chunk_id and item.document_id
        ]
    found = [_make_passage_source(principal, item) for item in cited]
    named = {item.document_id for item in found}
    found += [_make_document_source(principal, pk) for pk in dict.fromkeys(given.documents) if pk not in named]
    found += [_make_data_source(principal, name) for name in dict.fromkeys(given.data_sources)]
    if not 0 < len(found) <= MAX_SOURCES:
        raise InvalidInput(
            _("Choose what the answer is based on: 1 to %(most)s documents or data sources.") % {"most": MAX_SOURCES}
        )
    return found


def _make_passage_source(principal: Principal, cited: VerifiedSpan) -> VerifiedSource:
    """Return a cited passage; the whole document where the passage is of an older version."""
    chunk = get_visible(Chunk, principal, id=cited.chunk_id)
    source = _make_document_source(principal, chunk.document_id)
    if chunk.version_id == source.version_id:
        source.chunk_id, source.start, source.end = chunk.id, cited.start, cited.end
    return source


def _make_document_source(principal: Principal, document_id: UUID) -> VerifiedSource:
    document = get_visible(Document, principal, pk=document_id)
    if document.current_version_id is None or document.is_attached:
        raise InvalidInput(_("“%(title)s” cannot be cited: it is not used in answers.") % {"title": document.title})
    return VerifiedSource(document=document, version_id=document.current_version_id)


def _make_data_source(principal: Principal, name: str) -> VerifiedSource:
    source = list_wholly_askable_sources(principal).filter(name=name).first()
    if source is None:
        raise NotFound(_("There is no data source %(name)s you can query.") % {"name": name})
    return VerifiedSource(data_source=source, layer_sha256=compute_layer_sha256(source))


@transaction.atomic
def confirm_verified_answer(principal: Principal, answer_id: UUID) -> VerifiedAnswer:
    """Confirm that an answer is still valid, with its sources as they are now.

    Raises NotFound, InvalidInput where a source is gone.
    """
    answer = get_managed_answer(principal, answer_id)
    if answer.source is not None:
        require_manager(principal, answer.source)
        answer.layer_sha256 = compute_layer_sha256(answer.source, answer.sql)
    _require_future_day(answer.expires_on)
    for source in answer.sources.select_related("document", "data_source"):
        _update_source(principal, source)
    _mark_as_verified(principal, answer)
    record_action(principal, Action.VERIFIED_CONFIRMED, answer)
    return answer


def _update_source(principal: Principal, source: VerifiedSource) -> None:
    """Update a source to its current state: a passage of an older version is replaced by its document."""
    if source.data_source is not None:
        source.layer_sha256 = compute_layer_sha256(source.data_source)
    elif source.document is None or source.document.trashed_at is not None:
        raise InvalidInput(_("A source of this answer no longer exists. Choose another one, or delete the answer."))
    elif source.document.current_version_id != source.version_id:
        now = _make_document_source(principal, source.document.pk)
        source.version_id, source.chunk_id, source.start, source.end = now.version_id, None, 0, 0
    source.save()


@transaction.atomic
def change_wordings(
    principal: Principal, answer_id: UUID, *, wordings: Sequence[str], expires_on: date | None
) -> VerifiedAnswer:
    """Change a statement's other wordings and its expiry date; its query is corrected in a conversation."""
    answer = get_managed_answer(principal, answer_id)
    _require_future_day(expires_on)
    replace_wordings(answer, make_wordings(answer.question, wordings))
    answer.expires_on = expires_on
    answer.save(update_fields=["expires_on"])
    record_action(principal, Action.VERIFIED_SAVED, answer, detail={"source": str(answer.source_id)})
    return answer


@transaction.atomic
def delete_verified_answer(principal: Principal, answer_id: UUID) -> None:
    """Delete a verified answer; past answers that used it no longer show it. Raises NotFound."""
    answer = get_managed_answer(principal, answer_id)
    record_action(principal, Action.VERIFIED_RETIRED, answer)
    answer.delete()


async def verify_statement(principal: Principal, opened: OpenSource, *, question: str, sql: str) -> QueryResult:
    """Run a statement under this person's rights and store it as the verified answer to the question.

    Raises PermissionDenied unless they manage the source, InvalidInput without a question or for a result that is not read from the
    data, and as `run_query` does; then nothing is stored.
    """
    asked = normalise_question(question)
    tree = parse_statement(sql)
    if tree is not None and (fault := find_made_up_result(tree)) is not None:
        raise InvalidInput(fault.why)
    await sync_to_async(require_manager)(principal, opened.source)
    result = await run_query(principal, opened, sql)
    await sync_to_async(_store_statement)(principal, opened.source, asked, sql.strip())
    return result


@transaction.atomic
def _store_statement(principal: Principal, source: DataSource, question: str, sql: str) -> None:
    require_manager(principal, source)  # again: the statement took its time
    key = hash_question(question)
    answer = VerifiedAnswer.unscoped.select_for_update().filter(source=source, question_key=key).first()
    answer = answer or VerifiedAnswer(source=source, question_key=key)
    answer.question, answer.sql, answer.layer_sha256 = question, sql, compute_layer_sha256(source, sql)
    others = [] if answer._state.adding else [wording.text for wording in answer.wordings.exclude(key=key)]
    _mark_as_verified(principal, answer)
    texts = {hash_question(text): text for text in [*others, question]}
    replace_wordings(answer, [VerifiedWording(text=text, key=item) for item, text in reversed(texts.items())])
    record_action(principal, Action.VERIFIED_SAVED, answer, detail={"source": str(source.pk)})
