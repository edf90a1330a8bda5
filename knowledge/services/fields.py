"""The fields of a base's documents, and their values: permissions and validation."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Func, JSONField, QuerySet, TextField
from django.db.models import Value as Literal
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, require_right
from authz.rights.governing import get_governed
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.text.one_line import tidy_line
from knowledge.models import Document, DocumentField, FieldKind, KnowledgeBase
from knowledge.retrieval.conditions import FieldCondition, Value
from knowledge.retrieval.plan import select_documents
from knowledge.retrieval.search import Scope
from knowledge.stated_fields import (
    NAME_LENGTH,
    VALUE_LENGTH,
    fill_fields_from_files,
    parse_field_value,
    set_field_value,
)

MAX_FIELDS, MAX_CHOICES = 30, 100


@dataclass(frozen=True)
class FieldSpec:
    """The wanted definition of a field. choices: of one that is a choice, in the order in which they are offered."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    choices: tuple[str, ...] = ()


def list_fields(principal: Principal, base_id: UUID) -> QuerySet[DocumentField]:
    """Return the fields of a base, in order; none where this person does not see the base."""
    return DocumentField.objects.visible_to(principal).filter(knowledge_base_id=base_id)


@transaction.atomic
def set_fields(by: Principal, base_id: UUID, specs: Sequence[FieldSpec]) -> list[DocumentField]:
    """Let a base have these fields and no others, known by their names. Values that fit no more are forgotten.

    Raises NotFound (not managed by `by`), InvalidInput.
    """
    base = get_governed(KnowledgeBase, by, pk=base_id)
    wanted = _validate_field_specs(specs)
    kept = {field.name: field for field in DocumentField.unscoped.select_for_update().filter(knowledge_base=base)}
    for name, field in kept.items():
        if name not in wanted or wanted[name].kind != field.kind:
            _remove_field_values(_find_documents_with_field(base, name), name)
            field.delete()
    kept_ids = set(DocumentField.unscoped.filter(knowledge_base=base).values_list("pk", flat=True))
    made = []
    for position, spec in enumerate(wanted.values()):
        values = {"kind": spec.kind, "choices": list(spec.choices), "position": position}
        field, _is_new = DocumentField.unscoped.update_or_create(knowledge_base=base, name=spec.name, defaults=values)
        if spec.kind == FieldKind.CHOICE:
            text = KeyTextTransform(spec.name, "metadata")
            _remove_field_values(
                _find_documents_with_field(base, spec.name).annotate(said=text).exclude(said__in=spec.choices),
                spec.name,
            )
        made.append(field)
    fill_fields_from_files(base, [field for field in made if field.pk not in kept_ids])
    record_action(by, Action.KNOWLEDGE_BASE_CHANGED, base, detail={"fields": list(wanted)})
    return made


@transaction.atomic
def change_metadata(principal: Principal, *, document_id: UUID, values: Mapping[str, Any]) -> Document:
    """Set the named fields of a document, and no others; None and "" take a value away. Texts are read as the field's kind.

    Raises NotFound, PermissionDenied (no `change`), InvalidInput (no such field, or a value that does not fit).
    """
    seen = get_visible(Document, principal, pk=document_id)
    require_right(principal, Right.CHANGE, seen)
    document = Document.unscoped.select_for_update(of=("self",)).get(pk=seen.pk)
    fields = {field.name: field for field in list_fields(principal, document.knowledge_base_id)}
    for name, given in values.items():
        if name not in fields:
            raise InvalidInput(_("This knowledge base has no field “%(name)s”.") % {"name": str(name)[:NAME_LENGTH]})
        set_field_value(document, fields[name], parse_field_value(fields[name], given))
    if document.metadata != seen.metadata:
        document.save(update_fields=["metadata", "updated_at"])
        record_action(principal, Action.DOCUMENT_CHANGED, document, detail={"fields": sorted(values)})
    return document


def parse_conditions(
    principal: Principal, given: Iterable[Mapping[str, Any]], base_ids: Sequence[UUID] = ()
) -> tuple[FieldCondition, ...]:
    """Parse conditions as people write them, values by their field's kind. base_ids: where to find the field; empty for all.

    Raises InvalidInput (no field of this name that they see, a value that does not fit, a name that is of two kinds).
    """
    return tuple(_parse_condition(principal, item, base_ids) for item in given)


def _parse_condition(principal: Principal, given: Mapping[str, Any], base_ids: Sequence[UUID]) -> FieldCondition:
    name = str(given["field"])
    found = list(_list_visible_fields(principal, base_ids).filter(name=name).order_by("pk"))
    if not found:
        raise InvalidInput(_describe_missing_field(principal, name, base_ids))
    if len({field.kind for field in found}) > 1:
        raise InvalidInput(_("“%(name)s” is of several kinds here: name the knowledge base, too.") % {"name": name})
    field = found[0]
    field.choices = [choice for item in found for choice in item.choices]
    bounds = {key: parse_field_value(field, given.get(key)) for key in ("equals", "at_least", "at_most")}
    return FieldCondition(name, contains=str(given.get("contains") or ""), **bounds)


def _list_visible_fields(principal: Principal, base_ids: Sequence[UUID]) -> QuerySet[DocumentField]:
    fields = DocumentField.objects.visible_to(principal)
    return fields.filter(knowledge_base_id__in=base_ids) if base_ids else fields


def _describe_missing_field(principal: Principal, name: str, base_ids: Sequence[UUID]) -> str:
    """Return the same error for a missing field and an invisible one."""
    message = _("There is no field “%(name)s” that you can see.") % {"name": name[:NAME_LENGTH]}
    known = (
        _list_visible_fields(principal, base_ids)
        .order_by("name")
        .values_list("name", flat=True)
        .distinct()[:MAX_FIELDS]
    )
    names = ", ".join(known)
    return f"{message} {_('There are these: %(names)s.') % {'names': names}}" if names else message


def _validate_field_specs(specs: Sequence[FieldSpec]) -> dict[str, FieldSpec]:
    """Return the checked fields by name. Raises InvalidInput."""
    if len(specs) > MAX_FIELDS:
        raise InvalidInput(_("A knowledge base has at most %(most)s fields.") % {"most": MAX_FIELDS})
    found: dict[str, FieldSpec] = {}
    for spec in specs:
        name = tidy_line(spec.name)
        if not name or len(name) > NAME_LENGTH or "\0" in name:
            raise InvalidInput(_("A field has a name of at most %(most)s characters.") % {"most": NAME_LENGTH})
        if name in found:
            raise InvalidInput(_("The field “%(name)s” is there twice.") % {"name": name})
        choices = tuple(dict.fromkeys(filter(None, map(tidy_line, spec.choices))))
        if spec.kind == FieldKind.CHOICE and not choices:
            raise InvalidInput(_("“%(name)s” is one of a list: name what can be chosen.") % {"name": name})
        if len(choices) > MAX_CHOICES or any(len(item) > VALUE_LENGTH or "\0" in item for item in choices):
            raise InvalidInput(_("“%(name)s” has too much to choose from.") % {"name": name})
        found[name] = FieldSpec(name, spec.kind, choices if spec.kind == FieldKind.CHOICE else ())
    return found


def _find_documents_with_field(base: KnowledgeBase, name: str) -> QuerySet[Document]:
    return Document.unscoped.filter(knowledge_base=base, metadata__has_key=name)


def _remove_field_values(documents: QuerySet[Document], name: str) -> None:
    key = Cast(Literal(name), TextField())
    left = Func(F("metadata"), key, template="(%(expressions)s)", arg_joiner=" - ", output_field=JSONField())
    documents.update(metadata=left)


_BETWEEN = re.compile(r"[\s:：=]+")
_VALUES = """
SELECT e.key, e.value, count(*) FROM knowledge_document d
CROSS JOIN LATERAL jsonb_each(d.metadata) e
JOIN knowledge_documentfield f ON f.knowledge_base_id = d.knowledge_base_id AND f.name = e.key
WHERE d.metadata <> '{{}}' AND d.id IN ({documents}){words}
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %s"""
_WORD = " AND strpos(lower(e.key || ' ' || (e.value #>> '{}')), lower(%s)) > 0"


@dataclass(frozen=True)
class FieldValue:
    """A value as `Document.metadata` holds it. count: documents with it that the person's answers may use."""

    field: str
    value: Value
    count: int


def find_field_values(principal: Principal, words: str, *, most: int) -> list[FieldValue]:
    """Return the values whose field and value together hold all the words, the most frequent first. Documents that the person may not read
    give no values and count nothing: one statement decides both.
    """
    documents, values = select_documents(principal, Scope()).order_by().values("pk").query.sql_with_params()
    asked = [word for word in _BETWEEN.split(words) if word]
    with connection.cursor() as cursor:
        cursor.execute(_VALUES.format(documents=documents, words=_WORD * len(asked)), [*values, *asked, most])
        return [FieldValue(name, json.loads(value), count) for name, value, count in cursor.fetchall()]
