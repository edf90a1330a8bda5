"""How PostgreSQL carries out statements: the very ones, with their values and settings."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection


@dataclass(frozen=True)
class Executed:
    """One statement as it was carried out. root: the topmost node of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON).

    table: the one whose rows are counted.
    """

    root: dict[str, Any]
    table: str

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Every node, the topmost first."""
        found = [self.root]
        for node in found:  # grows while it is read
            found += node.get("Plans", [])
        return found

    @property
    def index_scans(self) -> Mapping[str, int]:
        """{index of any table: how often it was scanned}, without those that were planned and never needed."""
        scans: Counter[str] = Counter()
        for node in self.nodes:
            if node["Actual Loops"] and "Index Name" in node:
                scans[node["Index Name"]] += node["Actual Loops"]
        return scans

    @property
    def rows_read(self) -> int:
        """Rows of the table that were looked at, those that a filter dropped included."""
        rows = 0.0
        for node in self.nodes:
            if node.get("Relation Name") == self.table:
                dropped = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
                rows += (node["Actual Rows"] + dropped) * node["Actual Loops"]
        return round(rows)

    @property
    def most_sorted(self) -> int:
        """Rows that went into the largest sort."""
        inputs = (node["Plans"][0] for node in self.nodes if node["Node Type"] in ("Sort", "Incremental Sort"))
        return round(max((node["Actual Rows"] * node["Actual Loops"] for node in inputs), default=0))

    @property
    def buffers(self) -> int:
        """Pages of 8 kB that were touched."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])


@contextmanager
def executed(table: str = "knowledge_chunkindex") -> Iterator[list[Executed]]:
    """The statements that read a table while the block runs, by default the index of passages; each is carried out under EXPLAIN
    first.
    """
    found: list[Executed] = []

    def explain(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if table in sql and not many and sql.lstrip().startswith(("SELECT", "WITH")):
            execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", params, many, context)
            ((plan,),) = context["cursor"].fetchall()
            found.append(Executed((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"], table))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        yield found
