"""Rights as a file: imported as a whole after checking each line, or exported.

Each line says what one person or group is allowed or denied on one place, or that a place breaks inheritance. Columns: COLUMNS.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import IO, Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import list_denials, list_grants
from copilot_site.lib.commands import read_text_file
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.text.spreadsheets import escape_cell, unescape_cell
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase
from knowledge.services import access
from knowledge.services.access import Place, find_rights_carrier
from knowledge.services.folders import find_root_folder, split_folder_path

COLUMNS = ("knowledge_base", "folder", "document", "effect", "user", "group", "rights", "expires_at", "reason")
EFFECTS = ("allow", "break", "deny")  # in order of application: managers before breaks
MAX_PROBLEMS = 20  # told at once


@dataclass(frozen=True)
class GrantLine:
    """One line of a file, its values resolved. number: from 1, as an editor counts."""

    number: int
    place: Place
    effect: str
    holder: User | Group | None = None
    rights: tuple[Right, ...] = ()
    expires_at: datetime | None = None
    reason: str = ""


@transaction.atomic
def import_grants(by: Principal | None, file: Path) -> int:
    """Apply every line of a CSV file; return their number. Raises InvalidInput, naming each bad line, and then nothing has changed."""
    lines, problems = [], []
    for number, values in _read_lines(file):
        try:
            lines.append(_resolve_line(number, values))
        except InvalidInput as problem:
            problems.append(_("Line %(number)s: %(problem)s") % {"number": number, "problem": problem})
    if problems:
        more = len(problems) - MAX_PROBLEMS
        tail = [_("And %(count)s more.") % {"count": more}] if more > 0 else []
        raise InvalidInput("\n".join([*problems[:MAX_PROBLEMS], *tail]))
    for line in sorted(lines, key=lambda line: EFFECTS.index(line.effect)):
        try:
            _apply_line(by, line)
        except CopilotError as problem:
            raise InvalidInput(
                _("Line %(number)s: %(problem)s") % {"number": line.number, "problem": problem}
            ) from problem
    return len(lines)


@transaction.atomic
def export_grants(by: Principal | None, out: IO[str]) -> int:
    """Write every grant that counts, every denial and every break as CSV, as `import_grants` reads it; return the number of lines."""
    writer = csv.DictWriter(out, COLUMNS, restval="")
    writer.writeheader()
    count = 0
    for place in _iterate_places():
        for row in _iterate_place_lines(place):
            writer.writerow({name: escape_cell(value) for name, value in (_format_place_columns(place) | row).items()})
            count += 1
    record_action(by, Action.ACCESS_EXPORTED, detail={"lines": count})
    return count


def _read_lines(file: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the lines of a file as {column: text}. Raises InvalidInput for another kind of file."""
    if file.suffix.lower() != ".csv":
        raise InvalidInput(_("A grant file must end in .csv; “%(file)s” does not.") % {"file": file.name})
    reader = csv.DictReader(StringIO(read_text_file(file), newline=""), restkey="", restval="")
    _check_columns(reader.fieldnames or ())
    for values in reader:
        yield reader.line_num, {name: unescape_cell(value) for name, value in values.items() if isinstance(value, str)}


def _check_columns(names: Iterable[object]) -> None:
    for name in names:
        if name not in COLUMNS:
            raise InvalidInput(
                _("There is no column “%(name)s”. Choose from: %(known)s.")
                % {"name": name, "known": ", ".join(COLUMNS)}
            )


def _resolve_line(number: int, values: Mapping[str, str]) -> GrantLine:
    """Return a line with the rows that it names. Raises InvalidInput."""
    effect = values.get("effect") or "allow"
    if effect not in EFFECTS:
        raise InvalidInput(
            _("“%(effect)s” is not an effect. Choose from: %(known)s.")
            % {"effect": effect, "known": ", ".join(EFFECTS)}
        )
    place = _find_place(values)
    if effect == "break":
        if isinstance(place, KnowledgeBase):
            raise InvalidInput(_("A knowledge base inherits nothing. Name one of its folders, or “/” for the top one."))
        return GrantLine(number, place, effect)
    ends = values.get("expires_at", "")
    return GrantLine(
        number,
        place,
        effect,
        holder=_find_holder(values.get("user", ""), values.get("group", "")),
        rights=_parse_rights(values.get("rights", "")),
        expires_at=_parse_end(ends) if ends else None,
        reason=values.get("reason", ""),
    )


def _find_holder(user: str, group: str) -> User | Group:
    if bool(user) == bool(group):
        raise InvalidInput(_("Name either a user or a group."))
    found = User.objects.filter(username=user).first() if user else Group.objects.filter(name=group).first()
    if found is None and user:
        raise InvalidInput(_("There is no user “%(name)s”.") % {"name": user})
    if found is None:
        raise InvalidInput(_("There is no group “%(name)s”.") % {"name": group})
    return found


def _parse_rights(text: str) -> tuple[Right, ...]:
    names = text.split()
    unknown = [name for name in names if name not in Right.values]
    if unknown or not names:
        raise InvalidInput(
            _("“%(name)s” is not a right. Choose from: %(known)s.")
            % {"name": unknown[0] if unknown else "", "known": ", ".join(Right.values)}
        )
    return tuple(Right(name) for name in names)


def _parse_end(text: str) -> datetime:
    try:
        end = parse_datetime(text if "T" in text or " " in text else f"{text}T23:59:59")
    except ValueError:
        end = None
    if end is None:
        raise InvalidInput(
            _("“%(text)s” is not a time. Write 2027-01-31 or 2027-01-31T18:00:00+08:00.") % {"text": text}
        )
    return end if timezone.is_aware(end) else timezone.make_aware(end)


def _find_place(values: Mapping[str, str]) -> Place:
    """Return the base, folder or document of a line. Raises InvalidInput."""
    name, path, filename = (values.get(key, "") for key in ("knowledge_base", "folder", "document"))
    base = KnowledgeBase.unscoped.filter(name=name).first()
    if base is None:
        raise InvalidInput(_("There is no knowledge base “%(name)s”.") % {"name": name})
    if not path and not filename:
        return base
    folder = find_root_folder(base)
    for part in split_folder_path(path):
        below = Folder.unscoped.filter(parent=folder, name=part, kind=FolderKind.FOLDER).first()
        if below is None:
            raise InvalidInput(_("There is no folder “%(name)s” in “%(parent)s”.") % {"name": part, "parent": folder})
        folder = below
    if not filename:
        return folder
    there = Document.unscoped.filter(folder=folder, filename=filename, trashed_at=None)
    document = there.order_by("created_at").first()
    if document is None:
        raise InvalidInput(_("There is no document “%(name)s” in “%(parent)s”.") % {"name": filename, "parent": folder})
    return document


def _apply_line(by: Principal | None, line: GrantLine) -> None:
    if line.effect == "break":
        assert not isinstance(line.place, KnowledgeBase)  # `_resolve_line` refused it
        access.break_inheritance(by, line.place)
    elif line.holder is not None and line.effect == "deny":
        access.deny_place_rights(by, line.rights, line.place, to=line.holder, reason=line.reason)
    elif line.holder is not None:
        access.grant_place_rights(by, line.rights, line.place, to=line.holder, expires_at=line.expires_at)


def _iterate_places() -> Iterator[Place]:
    """Yield every place that may carry rights of its own: bases, folders, documents with exceptions."""
    for base in KnowledgeBase.unscoped.order_by("name"):
        yield base
        links = Folder.unscoped.filter(knowledge_base=base, kind=FolderKind.FOLDER).order_by("created_at", "id")
        yield from links
        own = Document.unscoped.filter(access__kind=FolderKind.DOCUMENT, knowledge_base=base, trashed_at=None)
        yield from own.select_related("folder", "knowledge_base").order_by("filename", "id")


def _format_place_columns(place: Place) -> dict[str, str]:
    if isinstance(place, KnowledgeBase):
        return {"knowledge_base": place.name}
    folder = place.folder if isinstance(place, Document) else place
    above = folder.ancestor_links.filter(ancestor__parent__isnull=False).order_by("-depth")
    names = above.values_list("ancestor__name", flat=True)
    address = {
        "knowledge_base": place.knowledge_base.name,
        "folder": "/".join(n.replace("/", "\\/") for n in names) or "/",
    }
    return address | ({"document": place.filename} if isinstance(place, Document) else {})


def _iterate_place_lines(place: Place) -> Iterator[dict[str, Any]]:
    carrier = find_rights_carrier(place)
    if carrier is None:
        return
    if isinstance(carrier, Folder) and not carrier.inherits:
        yield {"effect": "break"}
    for grant in list_grants(carrier):
        if grant.expires_at is None or grant.expires_at > timezone.now():
            ends = grant.expires_at.isoformat() if grant.expires_at else ""
            yield {
                "effect": "allow",
                _format_holder_kind(grant.is_group): grant.holder,
                "rights": grant.right.value,
                "expires_at": ends,
            }
    for denied in list_denials(carrier):
        yield {
            "effect": "deny",
            _format_holder_kind(denied.is_group): denied.holder,
            "rights": denied.right.value,
            "reason": denied.reason,
        }


def _format_holder_kind(is_group: bool) -> str:
    return "group" if is_group else "user"
