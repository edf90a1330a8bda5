"""Extraction of what a passage says for certain, by its form alone: terms, bracketed abbreviations, codes, table rows, facts in the
head of a document, people and units of the directory.

Every function reads one passage and nothing else, so that what a passage makes known follows from it alone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from knowledge.graph import kinds
from knowledge.graph.names import Names, fold_name
from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.pipe_table import parse_cells

MAX_CODES = 40  # of one passage; more is a listing
MAX_CELL = 80  # characters; what is longer is prose
MAX_ROWS = 200
MAX_LABEL = 30  # characters of the label of a fact

# What is spelt as no word is: KG-400, ISO-27001, HR-POL-012, maxUnavailable, KeelTrack, SEV1.
_CODE = re.compile(
    r"(?<![\w/.@-])(?:[A-Z][A-Za-z]*(?:-[A-Z0-9]+)*-?\d+(?:[-.][A-Za-z0-9]+)*|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)(?![\w@]|-\w)"
)
_QUOTED = r"[“\"「『《]([^”\"」』》\n]{2,60})[”\"」』》]"
_DEFINED = (
    re.compile(rf"{_QUOTED}\s*(?:means\b|is defined as\b|refers to\b|stands for\b|是指|指的是|定义为)"),
    re.compile(
        r"(?:^|[.;:!?]\s+|\n\s*(?:[-*]|\d+\.)?\s*)(?:(?:An?|The)\s+)?((?:[A-Z][\w/-]*|[a-z][\w/-]+)(?: [\w/-]+){0,4})\s+"
        r"(?:means\b|is defined as\b|stands for\b)"
    ),
    re.compile(r"(?:所称的?|^|[。；\n])\s*([\w·-]{2,20}?)，?(?:是指|指的是|定义为)"),
)
_POINTING = frozenset(
    {"it", "this", "that", "which", "what", "these", "he", "she", "they", "there", "这", "那", "它", "其"}
)
_BRACKETED = re.compile(r"[(（]([A-Z][A-Za-z0-9&/-]{1,9})[)）]")
_BEFORE = re.compile(r"(?:[\w'’/-]+ ){1,7}[\w'’/-]+ ?$")
MAX_BEFORE = 120  # characters before a bracket in which the full name stands
_FULL_WIDTH = re.compile(
    rf"(?:{_QUOTED}|(?:^|[\s，。；：、|])([\u3400-\u9fff]{{2,16}}))[(（](?:以下)?(?:简称|称为?)?[“\"「]?"
    r"([A-Za-z][\w .&/-]{1,40}|[\u3400-\u9fff]{2,10})[”\"」]?[)）]"
)
_FACT = re.compile(rf"^([^\W\d_][\w /-]{{0,{MAX_LABEL}}}?)\s*[:：]\s*(\S.{{0,{MAX_CELL}}})$")
_BREAK = re.compile(r"\s+·\s+|\s+\|\s+|\n")
_SENTENCE = re.compile(r"[.!?。！？；;]\s*\S")


@dataclass(frozen=True)
class NamedEntity:
    """An entity as a passage names it."""

    kind: str
    said: str

    @property
    def key(self) -> str:
        return fold_name(self.said)


@dataclass(frozen=True)
class StatedRelation:
    """A relation as a passage states it. subject: None for the document that the passage is of."""

    subject: NamedEntity | None
    kind: str
    object: NamedEntity


@dataclass
class PassageStatements:
    """The statements of one passage."""

    named: set[NamedEntity] = field(default_factory=set)
    stated: set[StatedRelation] = field(default_factory=set)

    def state(self, subject: NamedEntity | None, kind: str, other: NamedEntity) -> None:
        """Add a relation and both its ends; nothing where an end has no name or both are the same."""
        ends = [end for end in (subject, other) if end is not None]
        if all(end.key for end in ends) and len({end.key for end in ends}) == len(ends) and kind.strip():
            self.named.update(ends)
            self.stated.add(StatedRelation(subject, kind, other))

    def name(self, named: Iterable[NamedEntity]) -> None:
        self.named.update(item for item in named if item.key)


@dataclass(frozen=True)
class AccountNames:
    """The names of people and units that have an account here, as keys."""

    people: Names
    units: Names


def extract_statements(
    text: str, blocks: Sequence[PassageBlock] = (), *, is_first: bool, directory: AccountNames
) -> PassageStatements:
    """Return what a passage says. blocks: what it is made of. is_first: whether it begins its document, with facts about it."""
    relations = PassageStatements()
    for table in blocks:
        if table.is_headed:
            _read_table(table.names_in(text), text[table.start : table.end].split("\n")[2:], relations)
    running = "\n".join(text[block.start : block.end] for block in blocks if block.kind != "table") if blocks else text
    for term in _find_defined_terms(running):
        relations.state(None, kinds.DEFINES, NamedEntity(kinds.TERM, term))
    for full, short in _find_aliases(running):
        relations.state(NamedEntity(kinds.TERM, full), kinds.ALSO_CALLED, NamedEntity(kinds.TERM, short))
    codes = dict.fromkeys(_CODE.findall(text))
    relations.name(NamedEntity(kinds.CODE, code) for code in list(codes)[:MAX_CODES] if len(code) > 2)
    if is_first:
        for label, value in _find_facts(running):
            relations.state(None, label, NamedEntity(kinds.VALUE, value))
    relations.name(NamedEntity(kinds.PERSON, name) for _key, name in directory.people.found_in(text))
    relations.name(NamedEntity(kinds.UNIT, name) for _key, name in directory.units.found_in(text))
    return relations


def _read_table(header: list[str], lines: list[str], relations: PassageStatements) -> None:
    """Read rows: the first cell names the subject, every other short cell is a value of its column's relation."""
    if len(header) < 2 or not header[0]:
        return
    for row in map(parse_cells, lines[:MAX_ROWS]):
        if not _is_name(row[0]):
            continue
        entry = NamedEntity(kinds.ENTRY, row[0])
        for heading, cell in zip(header[1:], row[1:], strict=False):
            if _is_name(heading) and _is_name(cell) and len(heading) <= 60:
                relations.state(entry, heading, NamedEntity(kinds.VALUE, cell))
        relations.name([entry])


def _is_name(cell: str) -> bool:
    """Tell whether a cell is short and has letters: a name, and no number and no sentence."""
    return 1 < len(cell) <= MAX_CELL and any(char.isalpha() for char in cell) and not _SENTENCE.search(cell)


def _find_defined_terms(text: str) -> Iterator[str]:
    for pattern in _DEFINED:
        for found in pattern.finditer(text):
            term = found[1].strip().rpartition("所称")[2]
            if term.lower() not in _POINTING:
                yield term


def _find_aliases(text: str) -> Iterator[tuple[str, str]]:
    """Return pairs of a full name and its other name in brackets, where the brackets certainly hold one."""
    for found in _BRACKETED.finditer(text):
        before = _BEFORE.search(text[max(found.start() - MAX_BEFORE, 0) : found.start()])
        if before and (full := _find_full_name(before[0].split(), found[1])):
            yield full, found[1]
    for found in _FULL_WIDTH.finditer(text):
        yield (found[1] or found[2]).strip(), found[3].strip()


def _find_full_name(words: list[str], short: str) -> str:
    """Return the last words before the brackets whose initials are the abbreviation; "" where none are."""
    letters = [char.lower() for char in short if char.isalpha()]
    initials = [part for word in words for part in re.split(r"[-/]", word) if part]
    if len(letters) < 2 or len(initials) < len(letters):
        return ""
    for skipped in range(3):  # small words between: of, and, the
        count = len(letters) + skipped
        tail = initials[-count:]
        if _matches_initials(tail, letters):
            text = " ".join(words)
            start = text.rfind(tail[0])
            return text[start:]
    return ""


def _matches_initials(parts: list[str], letters: list[str]) -> bool:
    """Tell whether the parts begin with the letters in turn; small words may stand between, the first part never is one."""
    place = 0
    for part in parts:
        if place < len(letters) and part[0].lower() == letters[place]:
            place += 1
        elif part.lower() not in {"of", "and", "the", "for", "in", "on", "to", "a"}:
            return False
    return place == len(letters)


def _find_facts(text: str) -> Iterator[tuple[str, str]]:
    """Return label and value of lines in a document's head such as `Owner: Platform team · Review: …`."""
    for part in _BREAK.split(text[:600]):
        if (found := _FACT.match(part.strip())) and _is_name(found[2].rstrip(".。")):
            yield found[1].strip(), found[2].rstrip(".。 ")
