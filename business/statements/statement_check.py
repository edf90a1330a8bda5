"""Check one statement of one person with guard and sandbox, for the command and the admin's page."""

from dataclasses import dataclass
from typing import Any

from authz.principal import Principal
from business.execute import StatementResult
from business.guard.refusal import SqlRefused
from business.sources.services import OpenSource
from business.statements.run_query import run_query


@dataclass(frozen=True)
class Verdict:
    """reason: the rule that refused, error: its sentence; both empty where the statement may run. answer: None where it was refused."""

    answer: StatementResult | None
    reason: str = ""
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        if self.answer is None:
            return {"verdict": "deny", "reason": self.reason, "rewritten": None, "error": self.error}
        found: dict[str, Any] = {"verdict": "allow", "reason": "", "rewritten": self.answer.sql}
        if self.answer.rows:
            found |= {"columns": self.answer.rows.columns, "rows": self.answer.rows.rows, "total": self.answer.total}
        return found


async def verdict(by: Principal, opened: OpenSource, sql: str, *, execute: bool) -> Verdict:
    """Judge a statement under the rights that the source was opened with. by: whom the log names. Raises SourceUnavailable,
    SandboxRefused.
    """
    try:
        result = await run_query(by, opened, sql, execute=execute)
    except SqlRefused as refused:
        return Verdict(None, str(refused.reason), str(refused))
    return Verdict(result.answer)
