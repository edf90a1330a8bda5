"""Questions with statements that a manager of the source confirmed: examples for the next question, cases for evaluation."""

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from business.data_scope import ALL_DATA, DataScope
from business.guard.grammar import nodes, parse_query
from business.guard.guard import guard
from business.guard.policy import Policy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import Target
from business.guard.rules import strings
from business.guard.text import clean
from business.models import ConfirmedPair, DataSource
from business.parsing.base import Example
from business.parsing.model.free_form import not_read
from business.parsing.model.selects import parsed
from business.run_query import QueryResult, run_query
from business.source_grants import require_manage
from business.sources import OpenSource, open_source
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.text.normalise import normalise

MOST_EXAMPLES = 200  # the newest of one source; the guard looks at each once
QUESTION_CHARACTERS = 2_000
# Texts of SQL itself: figures and dates, intervals, fields of a time, and formats of to_char.
_NO_WORD = re.compile(r"[\d\W]*|[-+]?\d*\s*(second|minute|hour|day|week|month|quarter|year)s?|[YMDHISWQ\d\W]+")


def confirmed_examples(principal: Principal, source: DataSource, scope: DataScope = ALL_DATA) -> list[Example]:
    """The confirmed pairs of a source that this person's rights of today would run, the newest first.

    What names a table out of the scope, or a table or column the person may not read, is not there, nor what may name a row of other
    org units; nor is anything of a source they may not ask. A model is shown them, and repeats them to whoever asks it to.
    """
    try:
        opened = open_source(principal, source.name, scope)
    except NotFound:
        return []
    pairs = ConfirmedPair.objects.filter(source=source)[:MOST_EXAMPLES]
    return [
        Example(pair.question, pair.sql)
        for pair in pairs
        if passes(pair.sql, opened.access.policy) and not _names_rows(pair, opened)
    ]


async def confirm(principal: Principal, opened: OpenSource, *, question: str, sql: str) -> QueryResult:
    """Run a statement under this person's rights and store it as the right one for the question.

    Raises PermissionDenied unless they manage the source, InvalidInput without a question or for a result that is not read from the
    data, and as `run_query` does; then nothing is stored.
    """
    asked = _question(question)
    tree = parsed(sql)
    if tree is not None and (fault := not_read(tree)) is not None:
        raise InvalidInput(fault.why)
    await sync_to_async(require_manage)(principal, opened.source)
    result = await run_query(principal, opened, sql)
    await sync_to_async(_store)(principal, opened.source, asked, sql.strip())
    return result


@transaction.atomic
def withdraw_pair(principal: Principal, source: DataSource, *, pair_id: UUID) -> None:
    """Take a confirmed pair back: it is no example any more. Raises PermissionDenied, NotFound (the source has no such pair)."""
    require_manage(principal, source)
    deleted, _each = ConfirmedPair.objects.filter(source=source, pk=pair_id).delete()
    if not deleted:
        raise NotFound(_("There is no such confirmed answer."))
    record(principal, Action.SQL_UNCONFIRMED, source, detail={"pair": str(pair_id)})


def confirmed_pairs(source: DataSource) -> QuerySet[ConfirmedPair]:
    """Every confirmed pair of a source, the newest first, for whoever manages it."""
    return ConfirmedPair.objects.filter(source=source).select_related("confirmed_by")


def evaluation_cases(source: DataSource) -> Iterator[dict[str, str]]:
    """The pairs as `evaluate_sql` reads them, the oldest first: id, question, query, db_name."""
    for pair in ConfirmedPair.objects.filter(source=source).reverse():
        yield {"id": str(pair.pk), "question": pair.question, "query": pair.sql, "db_name": source.name}


@lru_cache(maxsize=4096)
def passes(sql: str, policy: Policy) -> bool:
    """Whether the guard lets the statement through and every column it names is among those of its tables."""
    try:
        checked = guard(sql, policy, Target())
    except SqlRefused:
        return False
    found = list(nodes(parse_query(clean(sql))))
    named = {strings(node.fields)[-1] for node in found if node.DESCRIPTOR.name == "ColumnRef"} - {""}  # "": a star
    defined = {node.name for node in found if node.DESCRIPTOR.name == "ResTarget"}
    defined |= {node.relname for node in found if node.DESCRIPTOR.name == "RangeVar"}
    defined |= {node.aliasname for node in found if node.DESCRIPTOR.name == "Alias"}
    defined |= {node.ctename for node in found if node.DESCRIPTOR.name == "CommonTableExpr"}
    return named <= defined.union(*(table.columns for table in checked.tables))


def _names_rows(pair: ConfirmedPair, opened: OpenSource) -> bool:
    """Whether a pair over tables of which units see their own rows alone has words that may be a row's.

    Kinds of things that the layer lists, dates, units of time and formats are not.
    """
    words = _words_of_rows(pair.sql, opened.access.policy)
    if words is None:
        return False
    listed = [d for model in opened.layer.semantic_models for d in model.dimensions]
    names = {value.value for d in listed if d.is_name for value in d.values}
    kinds = {value.value for d in listed if not d.is_name for value in d.values}
    return not words <= kinds - names or any(name in pair.question for name in names)


@lru_cache(maxsize=4096)
def _words_of_rows(sql: str, policy: Policy) -> frozenset[str] | None:
    """The texts in a statement that may be a row's; None where everybody who may ask its tables sees all of their rows."""
    if not any(table.org_column for table in guard(sql, policy, Target()).tables):
        return None
    texts = {node.sval.sval for node in nodes(parse_query(clean(sql))) if node.DESCRIPTOR.name == "A_Const"}
    return frozenset(text for text in texts if not _NO_WORD.fullmatch(text))


def _question(text: str) -> str:
    asked = normalise(text).strip()
    if not 0 < len(asked) <= QUESTION_CHARACTERS:
        raise InvalidInput(
            _("Give the question that this statement answers, in at most %(most)s characters.")
            % {"most": QUESTION_CHARACTERS}
        )
    return asked


@transaction.atomic
def _store(principal: Principal, source: DataSource, question: str, sql: str) -> None:
    require_manage(principal, source)  # again: the statement took its time
    pair, _made = ConfirmedPair.objects.update_or_create(
        source=source,
        question_sha256=sha256(question.encode()).hexdigest(),
        defaults={"question": question, "sql": sql, "confirmed_by_id": principal.user_id},
    )
    record(principal, Action.SQL_CONFIRMED, source, detail={"pair": str(pair.pk)})
