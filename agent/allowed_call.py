"""Calls of tools outside, as a run asks for them and as it is told that one is allowed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import BaseModel


class AskedApproval(BaseModel):
    """A call of a tool outside that waits for the person. title: of service and tool, for people."""

    id: UUID
    tool: str
    title: str


@dataclass(frozen=True)
class AllowedCall:
    """A call that the person allowed, with the arguments that they saw: the run makes it first."""

    approval_id: UUID
    tool: str
    arguments: dict[str, Any]
