"""Calling tools as a run does: by name, with JSON as a model writes it."""

import json
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.tools.base import ToolContext, list_tools
from agent.tools.calling import CallOutcome, call_tool
from authz.principal import Principal
from knowledge.retrieval.search import Scope


def called(
    person: User | Principal,
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    scope: Scope | None = None,
    allowed: list[str] | None = None,
) -> CallOutcome:
    """What came of one call; every registered tool is allowed when none is named."""
    principal = person if isinstance(person, Principal) else Principal.of(person)
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, default=str)
    names = [tool.name for tool in list_tools()] if allowed is None else allowed
    ctx = ToolContext(principal, scope or Scope(), "en")
    return async_to_sync(call_tool)(name, text, allowed=names, ctx=ctx)
