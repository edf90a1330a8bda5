"""A person's run, whose model writes statements."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.tools.base import ToolContext
from agent.tools.calling import CallOutcome, call_tool
from authz.principal import Principal
from knowledge.retrieval.search import Scope


class Writing:
    """Calls the tool for business data as such a model does."""

    def __init__(self, person: User, language: str = "en") -> None:
        self.ctx = ToolContext(Principal.of(person), Scope(), language, writes_sql=True)

    def call(self, **arguments: Any) -> CallOutcome:
        tool = "database_query"
        return async_to_sync(call_tool)(tool, json.dumps(arguments), allowed=[tool], ctx=self.ctx)

    def insist(self, sql: str) -> CallOutcome:
        """Call with a statement, and again where it is objected to."""
        called = self.call(sql=sql)
        return self.call(sql=sql) if called.problem == "Objection" else called
