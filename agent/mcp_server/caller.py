"""Who called, and what a call brings back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from authz.principal import Principal


@dataclass(frozen=True)
class Caller:
    """language: of the words that are ours, `en` or `zh-hans`. site: the address of this site, without a slash at its end."""

    principal: Principal
    language: str
    site: str


@dataclass(frozen=True)
class Reply:
    """text: for the model at the other end. data: the same for programs, JSON-serialisable."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
