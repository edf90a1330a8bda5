"""The people and units that have an account here, as names to be found in passages."""

from collections.abc import Iterable

from authz.people import full_names, unit_names
from knowledge.graph.certain import Directory
from knowledge.graph.names import Names, folded, is_telling


def directory() -> Directory:
    """As it is now. A person is looked for by a full name of two words or two characters, a unit as any other name."""
    return Directory(
        people=_names(name for name in full_names() if len(name) > 1 and (" " in name or not name.isascii())),
        units=_names(name for name in unit_names() if is_telling(name)),
    )


def _names(texts: Iterable[str]) -> Names:
    names = Names()
    names.add(key for key in map(folded, texts) if key)
    return names
