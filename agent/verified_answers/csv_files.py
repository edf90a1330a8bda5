"""Verified texts as CSV: exported for a spreadsheet, imported as a whole or not at all."""

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from io import StringIO
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agent.verified_answers.selectors import iterate_shown_answers, managed_answers_of
from agent.verified_answers.services import KeeperInput, save_verified_text
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.text.spreadsheets import unescape_cell

COLUMNS = ("folder", "question", "wordings", "answer", "documents", "data_sources", "valid_until")
NEEDED = ("folder", "question", "answer")
MAX_LINES = 500
MAX_FAULTS = 20  # told at once
T = TypeVar("T")


def export_answers(principal: Principal) -> Iterator[tuple[object, ...]]:
    """Yield the texts that this person keeps, below the names of the columns. Audited."""
    rows = managed_answers_of(principal).filter(folder__isnull=False)
    record_action(principal, Action.VERIFIED_EXPORTED, detail={"answers": rows.count()})
    yield COLUMNS
    for answer in iterate_shown_answers(rows):
        yield (
            answer.row.folder_id,
            answer.row.question,
            "\n".join(answer.others),
            answer.row.text,
            " ".join(str(document.pk) for document in answer.documents),
            " ".join(source.name for source in answer.data_sources),
            answer.row.expires_on or "",
        )


def import_answers(principal: Principal, text: str) -> int:
    """Save each line of a file, replacing its folder's answer to the same question; return their number.

    Raises InvalidInput with a sentence for each invalid line; then nothing is changed.
    """
    lines = list(_parse_lines(text))
    faults: list[str] = []
    with transaction.atomic():
        for number, values in lines:
            try:
                with transaction.atomic():
                    save_verified_text(
                        principal,
                        _make_given_answer(values),
                        folder_id=_convert_column(UUID, values, "folder"),
                        replaces=True,
                    )
            except CopilotError as error:
                faults.append(_("Line %(n)s: %(why)s") % {"n": number, "why": error})
            if len(faults) == MAX_FAULTS:
                break
        if faults:
            raise InvalidInput("\n".join(faults))
    return len(lines)


def _parse_lines(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline=""), restkey="", restval="")
    try:
        names = reader.fieldnames or ()
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InvalidInput(_("The file is not CSV: %(why)s.") % {"why": error}) from error
    for name in (*(item for item in names if item not in COLUMNS), *(item for item in NEEDED if item not in names)):
        raise InvalidInput(
            _("The columns are %(known)s; look at “%(name)s”.") % {"known": ", ".join(COLUMNS), "name": name}
        )
    if not 0 < len(rows) <= MAX_LINES:
        raise InvalidInput(_("A file holds 1 to %(most)s verified answers.") % {"most": MAX_LINES})
    for number, row in rows:
        yield number, {name: unescape_cell(value) for name, value in row.items() if isinstance(value, str)}


def _make_given_answer(values: Mapping[str, str]) -> KeeperInput:
    return KeeperInput(
        question=values["question"],
        text=values["answer"],
        wordings=[line for line in values.get("wordings", "").splitlines() if line.strip()],
        expires_on=_convert_column(date.fromisoformat, values, "valid_until")
        if values.get("valid_until", "").strip()
        else None,
        documents=[_convert_value(UUID, part, "documents") for part in values.get("documents", "").split()],
        data_sources=values.get("data_sources", "").split(),
    )


def _convert_column(kind: Callable[[str], T], values: Mapping[str, str], name: str) -> T:
    return _convert_value(kind, values[name].strip(), name)


def _convert_value(kind: Callable[[str], T], text: str, name: str) -> T:
    try:
        return kind(text)
    except ValueError as error:
        message = _("“%(value)s” does not fit the column %(name)s.")
        raise InvalidInput(message % {"value": text[:60], "name": name}) from error
