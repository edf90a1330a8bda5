"""Find the name of a table's rows: one column, or a first and a last name."""

import psycopg

from business.inference.catalog import Table
from business.inference.identifiers import Identifiers
from business.inference.keys import differs
from business.parsing.reader.units import key_of, singular

Said = dict[str, tuple[str, ...]]  # names in words by column, the fullest first
_PERSON = ("first name", "last name")
_OTHERS = ("user", "file", "contact", "street", "path", *(word for part in _PERSON for word in part.split()))


def title_of(connection: psycopg.Connection, table: Table, said: Said, names: Identifiers) -> str:
    """Return the column with a row's name, or "".

    A name, a title, a column named like the table; else, where rows have a key, the first unique name (`company_name`),
    or a description that is the only text.
    """
    texts = [column for column in table.columns if column.category == "S" and column.name in said]
    for want in ("name", "full name", "title", "user name", "username"):
        if want == "title" and person_of(table, said):
            return ""  # a person's title is their position
        found = next((column.name for column in texts if want in said[column.name]), "")
        if found:
            return found
    if not table.key:
        return ""
    texts = [column for column in texts if column.name != table.key]
    called = {tuple(map(singular, phrase.split())) for phrase in names.table(table.name)}
    like_it = [c for c in texts if {key_of(phrase) for phrase in said[c.name]} & called]
    named = [c for c in texts if c.name.lower().endswith("name") and not _is_of_another(said[c.name])]
    only = [c for c in texts if len(texts) == 1 and "description" in said[c.name] and c.name.lower() != "description"]
    own = [c for c in (*like_it, *named[:1]) if differs(connection, table, c)]
    return next((c.name for c in (*own, *only)), "")


def person_of(table: Table, said: Said) -> tuple[str, str] | None:
    """Return the columns of people's first and last names; None unless there are both and no full name."""
    texts = [column.name for column in table.columns if column.category == "S" and column.name in said]
    first, last = (next((name for name in texts if part in said[name]), "") for part in _PERSON)
    is_whole = any("full name" in said[name] or name == "full_name" for name in texts)
    return None if not (first and last) or is_whole else (first, last)


def _is_of_another(phrases: tuple[str, ...]) -> bool:
    """Return whether a name belongs to a part or somebody else: a user name, the name of a contact."""
    return phrases[0].split()[0] in _OTHERS
