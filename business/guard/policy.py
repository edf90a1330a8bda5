"""One person's rights on one data source, as plain values for guard and sandbox."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property


def is_system_schema(name: str) -> bool:
    """Return whether a schema, however spelled, is the server's own or this system's: its tables are never read."""
    plain = unicodedata.normalize("NFKC", name).strip("\"'` \t\r\n").casefold()
    return not plain or plain == "information_schema" or plain.startswith(("pg_", "copilot_wall"))


@dataclass(frozen=True)
class AllowedTable:
    """A table with the columns that may be read, in order, and the rows: those whose org-unit column is in `units`.

    org_column: None where the source declares that the table has none; then every row may be read.
    units: names of org units; empty with an org_column means no row.
    key: the columns of its primary key, if all may be read; grouping by them makes every other column available.
    """

    schema: str
    name: str
    columns: tuple[str, ...]
    org_column: str | None
    units: tuple[str, ...] = ()
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError(f"table {self.schema}.{self.name} has no readable column")
        if is_system_schema(self.schema):
            raise ValueError(f"table {self.schema}.{self.name} is none of business data")

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def view(self) -> str:
        """Return the name of its view in the sandbox, at most 63 bytes, PostgreSQL's limit."""
        if len(self.name.encode()) < 60:
            return self.name
        return f"t_{hashlib.sha256(self.name.encode()).hexdigest()[:20]}"


@dataclass(frozen=True)
class TablePolicy:
    """The tables a statement may name. Two tables with one name need a schema."""

    tables: tuple[AllowedTable, ...]

    def find(self, schema: str, name: str) -> list[AllowedTable]:
        """Return the tables that match a reference; an empty schema matches any."""
        return [table for table in self.tables if table.name == name and schema in ("", table.schema)]

    @cached_property
    def digest(self) -> str:
        """Return 24 hexadecimal digits, equal for equal rights, which name the role and the schema of their views."""
        content = json.dumps([asdict(table) for table in sorted(self.tables, key=lambda t: (t.schema, t.name))])
        return hashlib.sha256(content.encode()).hexdigest()[:24]

    @classmethod
    def of(cls, tables: Iterable[AllowedTable]) -> "TablePolicy":
        return cls(tuple(tables))
