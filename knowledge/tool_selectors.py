"""Reads of documents and passages by place, pattern or id, for the agent's tools; all through `visible_to`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import DataError, OperationalError, connection, transaction
from django.db.models import Count, F, Func, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import InvalidInput
from knowledge.documents.text import is_version_parsed
from knowledge.ingestion.stages import load_parsed_document
from knowledge.models import (
    Chunk,
    Document,
    DocumentVersion,
    FolderLink,
    ParseStatus,
    Stage,
    StageName,
    StageStatus,
)
from knowledge.parsers.blocks import Block
from knowledge.retrieval.conditions import build_document_filter
from knowledge.retrieval.plan import Scope
from knowledge.selectors import SHOWN_WITH, ShownPassage, build_shown_passage
from knowledge.text.pipe_table import parse_cells

PATTERN_LENGTH = 200  # characters of a regular expression
_WIDE = "[０-９Ａ-Ｚａ-ｚ]"  # a text without any has no other spelling
SPREADSHEETS = (".xlsx", ".csv", ".tsv")


@dataclass(frozen=True)
class PassagePage:
    """A stretch of a document's passages. total: of the whole document; offset: of the first one here, from 0.

    version_number: of the version they belong to, 0 where none answers yet.
    """

    document: Document
    version_number: int
    total: int
    offset: int
    passages: tuple[ShownPassage, ...]


@dataclass(frozen=True)
class CardFacts:
    """The facts on a document's catalogue card. done, total: passages indexed so far of its newest version."""

    document: Document
    newest: DocumentVersion
    chunks: int
    done: int
    total: int | None


@dataclass(frozen=True)
class Matches:
    """Passages that match a pattern, by document and place. more: there are others."""

    passages: tuple[ShownPassage, ...]
    more: bool


def list_documents_in_scope(principal: Principal, scope: Scope) -> QuerySet[Document]:
    """Return the documents that this person's answers may use, within the scope."""
    return Document.objects.visible_to(principal).filter(_build_scope_filter(scope))


def _build_scope_filter(scope: Scope, path: str = "") -> Q:
    """Return the scope as a filter on documents, or on rows related by `path`."""
    chosen = Q()
    if scope.knowledge_base_ids:
        chosen &= Q(**{f"{path}knowledge_base_id__in": scope.knowledge_base_ids})
    if scope.document_ids:
        chosen &= Q(**{f"{path}id__in": scope.document_ids})
    if scope.folder_ids:
        below = FolderLink.objects.filter(ancestor_id__in=scope.folder_ids).values("descendant_id")
        chosen &= Q(**{f"{path}folder_id__in": below})
    if scope.language:
        chosen &= Q(**{f"{path}language": scope.language})
    return chosen & build_document_filter(scope.metadata, f"{path}id")


def _list_answering_passages(principal: Principal, scope: Scope) -> QuerySet[Chunk]:
    """Return the passages of the versions that answer."""
    return (
        Chunk.objects.visible_to(principal)
        .filter(
            _build_scope_filter(scope, "document__"), version_id=F("document__current_version_id"), is_retired=False
        )
        .select_related(*SHOWN_WITH)
    )


def load_passage_page(
    principal: Principal, document_id: UUID | str, *, scope: Scope, limit: int, offset: int
) -> PassagePage:
    """Return `limit` passages of a document from the offset on; none past the end. Raises NotFound."""
    document = _find_document(principal, document_id, scope)
    rows = _list_answering_passages(principal, scope).filter(document=document).order_by("position")
    return PassagePage(
        document,
        _find_version_number(document),
        rows.count(),
        offset,
        tuple(map(build_shown_passage, rows[offset : offset + limit])),
    )


def load_passages_around(principal: Principal, chunk_id: UUID | str, *, scope: Scope, reach: int) -> PassagePage:
    """Return a passage with `reach` passages before and behind it, in its document. Raises NotFound."""
    chunk = get_visible(Chunk, principal, id=chunk_id)
    document = _find_document(principal, chunk.document_id, scope)
    rows = _list_answering_passages(principal, scope).filter(document=document).order_by("position")
    place = rows.filter(start__lte=chunk.start).count() - 1 if chunk.is_retired else chunk.position
    first = max(place - reach, 0)
    near = rows.filter(position__gte=first, position__lte=place + reach)
    return PassagePage(
        document, _find_version_number(document), rows.count(), first, tuple(map(build_shown_passage, near))
    )


def _find_version_number(document: Document) -> int:
    return document.current_version.number if document.current_version else 0


def _find_document(principal: Principal, document_id: UUID | str, scope: Scope) -> Document:
    """Return a document. Raises NotFound, the same for missing, not theirs and out of scope."""
    document = get_visible(Document, principal, pk=document_id)
    inside = list_documents_in_scope(principal, scope).filter(pk=document.pk).exists()
    return document if inside else get_visible(Document, principal, pk=UUID(int=0))


def load_document_facts(principal: Principal, ids: Iterable[str], *, scope: Scope) -> dict[str, CardFacts]:
    """Return {requested id: facts} of the documents visible within the scope, in two statements for any number."""
    asked = {text: parsed for text in ids if (parsed := _parse_uuid(text))}
    lookup = {"version_id": OuterRef("current_version_id"), "is_retired": False}
    answering = Chunk.objects.permitted(principal, Right.VIEW, **lookup)
    counted = answering.order_by().values("version_id").annotate(count=Count("id")).values("count")
    rows = {
        row.pk: row
        for row in list_documents_in_scope(principal, scope)
        .filter(pk__in=asked.values())
        .select_related("knowledge_base", "folder")
        .annotate(chunk_count=Subquery(counted))
    }
    newest: dict[UUID, DocumentVersion] = {}
    versions = DocumentVersion.objects.visible_to(principal).filter(document__in=rows)
    for version in versions.prefetch_related("stages").order_by("number"):
        newest[version.document_id] = version
    return {text: _build_facts(rows[pk], newest[pk]) for text, pk in asked.items() if pk in rows and pk in newest}


def _build_facts(document: Document, newest: DocumentVersion) -> CardFacts:
    stages: dict[str, Stage] = {stage.name: stage for stage in newest.stages.all()}
    embed = stages.get(StageName.EMBED)
    chunks: int = getattr(document, "chunk_count", None) or 0
    if newest.parse_status == ParseStatus.COMPLETED or embed is None or embed.status == StageStatus.PENDING:
        return CardFacts(document, newest, chunks, chunks, chunks or None)
    return CardFacts(document, newest, chunks, embed.items_done, embed.items_total)


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


class _Narrow(Func):
    """A text with full-width characters as plain ones."""

    template = "normalize(%(expressions)s, NFKC)"


def grep_passages(
    principal: Principal, patterns: Sequence[str], *, scope: Scope, limit: int, timeout_ms: int
) -> Matches:
    """Return passages in which any of the regular expressions (PostgreSQL's, case does not matter) matches, up to `limit`.

    timeout_ms: after which the database gives up. Raises InvalidInput: a pattern that is none, or that takes too long.
    """
    for pattern in patterns:
        if not pattern.strip() or len(pattern) > PATTERN_LENGTH or "\0" in pattern:
            raise InvalidInput(
                _("A pattern has 1 to %(most)s characters; this one has %(count)s.")
                % {"most": PATTERN_LENGTH, "count": len(pattern)}
            )
    matches = Q()  # of the text as it is written, or with full-width letters and digits as plain ones
    for pattern in patterns:
        matches |= Q(text__iregex=pattern) | Q(text__regex=_WIDE, narrow__iregex=pattern)
    rows = (
        _list_answering_passages(principal, scope)
        .alias(narrow=_Narrow("text"))
        .filter(matches)
        .order_by("document__title", "document_id", "position")
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(timeout_ms)])
            found = list(rows[: limit + 1])
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")
    except DataError as error:
        detail = str(error).splitlines()[0].removeprefix("invalid regular expression: ")
        raise InvalidInput(
            _("The pattern is not a valid regular expression (%(detail)s). Escape special characters with a backslash.")
            % {"detail": detail}
        ) from error
    except OperationalError as error:
        raise InvalidInput(
            _("The pattern took longer than %(seconds)s s. Use plain words, or fewer wildcards.")
            % {"seconds": round(timeout_ms / 1000, 1)}
        ) from error
    return Matches(tuple(map(build_shown_passage, found[:limit])), len(found) > limit)


@dataclass(frozen=True)
class VersionText:
    """A version of a document, block by block as its parser read it."""

    document: Document
    number: int
    blocks: tuple[str, ...]


def load_version_text(principal: Principal, named: str, *, scope: Scope) -> VersionText:
    """Return a version's text. named: a document's id (its answering version), or `id@2`. Raises NotFound, InvalidInput (not read)."""
    document_id, _at, number = named.strip().partition("@")
    document = _find_document(principal, document_id, scope)
    version: DocumentVersion | None
    if number:
        version = get_visible(
            DocumentVersion, principal, document=document, number=int(number) if number.isdecimal() else 0
        )
    else:
        version = document.current_version
    if version is None or not is_version_parsed(version):
        raise InvalidInput(_("“%(title)s” has no text in this version.") % {"title": document.title})
    return VersionText(document, version.number, tuple(block.text for block in load_parsed_document(version).blocks))


@dataclass(frozen=True)
class SheetText:
    """A table of a spreadsheet: the heading above it ("" for none), and rows of cells, the first one the header."""

    sheet: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Spreadsheet:
    """A document of tables. first: the passage it is cited by, None while it has none."""

    document: Document
    first: ShownPassage | None
    sheets: tuple[SheetText, ...]


def list_spreadsheets(principal: Principal, scope: Scope) -> QuerySet[Document]:
    """Return documents of tables (xlsx, csv, tsv) that can be read, by title."""
    named = Q()
    for suffix in SPREADSHEETS:
        named |= Q(filename__iendswith=suffix)
    rows = list_documents_in_scope(principal, scope).filter(named, current_version__isnull=False)
    return rows.select_related("current_version").order_by("title", "pk")


def load_spreadsheet(principal: Principal, document_id: UUID | str, *, scope: Scope) -> Spreadsheet:
    """Return the tables of one document, as its parser read them. Raises NotFound, InvalidInput where it is no spreadsheet."""
    document = _find_document(principal, document_id, scope)
    version = document.current_version
    if not document.filename.lower().endswith(SPREADSHEETS) or version is None:
        raise InvalidInput(
            _("“%(title)s” is not a readable spreadsheet. Ask for a document that ends in .xlsx, .csv or .tsv.")
            % {"title": document.title}
        )
    first = _list_answering_passages(principal, scope).filter(document=document).order_by("position").first()
    return Spreadsheet(document, build_shown_passage(first) if first else None, load_sheets(version))


def load_sheets(version: DocumentVersion) -> tuple[SheetText, ...]:
    """Return the tables of a version, as its parser read them, with the exact numbers of their cells."""
    sheet, sheets = "", []
    for block in load_parsed_document(version).blocks:
        if block.kind == "heading":
            sheet = block.text
        elif block.kind == "table":
            sheets.append(SheetText(sheet, _split_table_rows(block)))
    return tuple(sheets)


def _split_table_rows(table: Block) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table, the first one its header, empty where it has none."""
    lines = (table.exact or table.text).split("\n")
    rows = [tuple(parse_cells(line)) for line in lines]
    return (rows[0], *rows[2:]) if table.is_headed else (("",) * len(rows[0]), *rows)
