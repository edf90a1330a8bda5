"""The caller of a tool, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from authz.principal import Principal


@dataclass(frozen=True)
class Caller:
    """language: of our own words, `en` or `zh-hans`. site: the address of this site, without a trailing slash."""

    principal: Principal
    language: str
    site: str


@dataclass(frozen=True)
class Reply:
    """text: for the calling model. data: the same for programs, JSON-serialisable."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
