"""The interface of parsers and their errors. A new format is one file that calls `parsers.add` and returns `blocks.ParsedDocument`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from copilot_site.lib.registry import Registry, load_modules
from knowledge.failure_reasons import REASONS
from knowledge.parsers.blocks import ParsedDocument

MIB = 1024 * 1024


@dataclass(frozen=True)
class ParseLimits:
    """Bounds of one parse; a file beyond one of them is refused with a reason. Times in seconds, sizes in bytes."""

    file_bytes: int = 100 * MIB  # the upload service refuses earlier and lower; this holds for every other way in
    pages: int = 3_000  # of a PDF, read at about 55 pages/s: what cpu_s leaves time for on a slower machine
    slides: int = 2_000
    cells: int = 1_000_000  # filled cells over all sheets of a workbook, or fields of a CSV file
    sheet_area_cells: int = (
        20_000_000  # rows × columns of the used range: one far cell makes libraries allocate all of it
    )
    zip_entries: int = 5_000
    unpacked_bytes: int = 400 * MIB  # of all members of an OOXML zip together
    member_xml_bytes: int = 24 * MIB  # of one XML member of DOCX and PPTX: a parsed tree takes about ten times as much
    sheet_xml_bytes: int = 200 * MIB  # of one XML member of XLSX, which is read as a stream
    zip_ratio: int = 250  # unpacked / packed of a member above ratio_from_bytes; honest XML stays below 100
    ratio_from_bytes: int = 1 * MIB
    text_bytes: int = 32 * MIB  # of MD, TXT, CSV and HTML files
    html_depth: int = 200  # of nested elements, where recursive readers still have stack left
    pixels: int = 100_000_000  # of one picture: an A3 page at 600 dpi; unpacked it takes four bytes each
    text_characters: int = 20_000_000  # of the parsed text
    memory_bytes: int = 768 * MIB  # address space a parse may take beyond what the warm server already holds
    cpu_s: int = 90
    wall_s: float = 120.0
    written_bytes: int = 16 * MIB  # of any file the parser writes
    result_bytes: int = 128 * MIB  # of the answer on the pipe


RECOGNITION_LIMITS = ParseLimits(memory_bytes=1536 * MIB, cpu_s=120, wall_s=300.0)
"""Of reading one picture: the models work in up to 800 MB, for 5 to 30 s of one core."""

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


def load_parsers() -> None:
    """Import the parsers: every module of `formats`. A second call changes nothing."""
    load_modules("knowledge.parsers.formats")


def list_accepted_extensions() -> list[str]:
    return sorted(extension for parser in parsers for extension in parser.extensions)
