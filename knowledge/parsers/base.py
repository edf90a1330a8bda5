"""The interface of parsers and their errors. A new format is one file that calls `parsers.add` and returns `blocks.ParsedDocument`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from copilot_site.lib.registry import Registry, load_modules
from knowledge.failure_reasons import REASONS
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.limits import ParseLimits

PARSER_VERSION = 6
"""Counted up when what parsers give changes for files that were read before: `manage.py reread` finds those."""


class UnreadableFile(Exception):
    """A file that gives no document. `code` is a key of REASONS, `params` fill it; str() is the English sentence."""

    def __init__(self, code: str, **params: str | float) -> None:
        super().__init__(code, params)
        self.code = code
        self.params = params

    def __str__(self) -> str:
        return REASONS[self.code] % self.params


class Rejected(UnreadableFile):
    """Refused by a rule (type, size, encryption, bomb): the same file will be refused again."""


class ParseFailed(UnreadableFile):
    """The file could not be read: damaged, or it cost more time or memory than a file may."""


class Parser(Protocol):
    """Reads one format. Instances hold no state; `parse` runs in a child process under ParseLimits."""

    @property
    def name(self) -> str: ...
    @property
    def mime_types(self) -> Sequence[str]: ...
    @property
    def extensions(self) -> Sequence[str]:
        """Return the extensions in lower case with the dot, the usual one first."""

    @property
    def preload(self) -> Sequence[str]:
        """Return the modules that a warm server imports once, before it forks for each file."""

    def recognises(self, path: Path) -> bool:
        """Tell whether the content looks like this format; reads little, trusts nothing, raises nothing."""

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        """Parse a file. Raises Rejected when it breaks a limit or a rule, ParseFailed("damaged") when unreadable."""


parsers: Registry[Parser] = Registry("parser")


def load() -> None:
    """Import the parsers: every module of `formats`. A second call changes nothing."""
    load_modules("knowledge.parsers.formats")


def accepted_extensions() -> list[str]:
    return sorted(extension for parser in parsers for extension in parser.extensions)
