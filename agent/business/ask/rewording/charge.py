"""Who is in charge: a role word stands for the table it points to, where the rows that have the role are asked about, too."""

from dataclasses import replace

from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import Lexicon, ModelRef
from agent.business.ask.words.units import key_of

_VERBS = (
    "responsible for; is responsible for; are responsible for; in charge of; look after; looks after; looked after; "
    "owns; own; leads; lead; manages; manage; 负责; 跟进; 对接; 负责的; 跟进的; 对接的"
)
_IN_CHARGE = frozenset(key_of(verb) for verb in _VERBS.split(";"))
_WHO = frozenset(("who", "who is", "who are", "谁", "是谁"))


def in_charge(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Projects and their owners”, “revenue by support rep”, “who is responsible for …”; a role of nothing asked about is unknown."""
    tables = {ref.model for item in items if item.kind is not Kind.ROLE for ref in item.refs}  # type: ignore[attr-defined,unused-ignore]
    said: list[Item] = []
    for item in _asked_for(items, tables, lexicon):
        if item.kind is not Kind.ROLE:
            said.append(item)
            continue
        targets = _targets(item, tables, lexicon)
        is_one = len(targets) == 1 and not targets & tables
        if not is_one:
            said.append(replace(item, kind=Kind.UNKNOWN, refs=()))
            continue
        role = replace(item, kind=Kind.MODEL, refs=tuple(ModelRef(target) for target in targets))
        said = _compound(said, role, items, lexicon)
    return said


def _compound(said: list[Item], role: Item, items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“项目负责人”, “project owners”: the owners, of projects; the projects are no thing of their own where others are named."""
    last = said[-1] if said and said[-1].kind is Kind.MODEL else None
    holders = {ModelRef(one.holder) for one in lexicon.roles[key_of(role.text)]}
    if last is None or not set(last.refs) & holders:
        return [*said, role]
    is_again = any(other is not last and other.kind is Kind.MODEL and other.refs == last.refs for other in items)
    is_first = last.text.isascii() or (len(said) > 1 and said[-2].kind is Kind.GROUP)
    return [*said[:-1], *([role] if is_again else [role, last] if is_first else [last, role])]


def _targets(item: Item, tables: set[str], lexicon: Lexicon) -> set[str]:
    """The tables of the role's holders that the question is about: rows of one of its tables lead to them."""
    joins = Joins(lexicon.layer)
    roles = lexicon.roles.get(key_of(item.text), ())
    return {
        role.target for role in roles if any(joins.up(name, role.holder) is not None for name in tables - {role.target})
    }


def _asked_for(items: list[Item], tables: set[str], lexicon: Lexicon) -> list[Item]:
    """“谁负责客户 A”: the one who has the only role there."""
    verb = next((i for i in items if i.kind in (Kind.EVENT, Kind.STOP) and key_of(i.text) in _IN_CHARGE), None)
    who = next((i for i in items if i.text.lower() in _WHO), None)
    if verb is None or who is None:
        return items
    found = {target for key in lexicon.roles for target in _targets(Item(Kind.ROLE, " ".join(key)), tables, lexicon)}
    if len(found) != 1 or found & tables:
        return items
    role = Item(Kind.MODEL, verb.text, (ModelRef(found.pop()),))
    asked = [Item(Kind.LIST, who.text), role]
    return [part for item in items if item is not verb for part in (asked if item is who else [item])]
