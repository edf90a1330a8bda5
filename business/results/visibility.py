"""Check who may still see a data source's results, each time an answer that cites one is shown.

Each kind of data source registers a function at start-up; results that none vouches for are hidden.
"""

from collections.abc import Callable, Collection

from authz.principal import Principal
from business.results.shown_query import ShownValue, TableReach
from copilot_site.lib.registry import Registry


class Queried(ShownValue):
    """The source and tables a result was read from. reach: what it could read of them when it ran."""

    source: str
    reach: tuple[TableReach, ...] = ()

    @property
    def key(self) -> str:
        """Return it as one line of text, for storage."""
        return self.model_dump_json()

    @classmethod
    def of_tables(cls, source: str, tables: Collection[str]) -> "Queried":
        """Return a basis of which only the tables are known."""
        return cls(source=source, reach=tuple(TableReach(table=table, columns=(), units=()) for table in tables))


Visible = Callable[[Principal, Collection[Queried]], Collection[Queried]]
"""(who, results) → those of the results that this person may be shown now."""

query_sources: Registry[Visible] = Registry("kind of data source")


def visible_queries(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Return the results that any kind vouches for."""
    if not queried:
        return set()
    return {one for visible in query_sources for one in visible(principal, queried) if one in queried}


def visible_keys(principal: Principal, keys: Collection[str]) -> set[str]:
    """Return the stored keys whose results this person may see now."""
    return {one.key for one in visible_queries(principal, {Queried.model_validate_json(key) for key in keys})}
