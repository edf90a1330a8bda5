"""What is named by its spelling (KeelGate, SLA, KG-400, E5, 4.6.2), and codes among it: another code is another thing, and one with a
suffix is a variant of it.

A similarity sees KG-400 and KG-600 as nearly the same, and a person who asks for KG-400 means KG-400-L and KG-400-N alike.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.normalise import normalise
from knowledge.text.terms import term_id, terms

_SPELT = re.compile(r"[A-Za-z]*[a-z][A-Z][\w-]*|[A-Z]{2,}[\w-]*|[\w-]*\d[\w,-]*(?:\.\w[\w,-]*)*", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{1,5}-?\d{2,}(?:-[A-Za-z\d]+)*")
_LABEL = re.compile(r"[A-Za-z]+-?\d.*|\d+(?:\.\d+){2,}")  # a number in it counts nothing: KG-400, E5, 4.6.2
_LETTER = re.compile(r"(?<![\w'’.&-])[A-Z](?![A-Za-z0-9_'’&-]|\.[A-Z])", re.ASCII)
_HAN_ASKS = re.compile("[\u3400-\u9fff]")
_EXACT = re.compile(r"\w[\w@.+/-]*\w", re.ASCII)
_NO_NAME = re.compile(r"\d{1,3}|(?:19|20)\d\d")  # amounts and years
_CODED = re.compile(r"[\d@]")
FEW, SHARE = 5, 0.01  # passages of a base that hold what is rare there, or share of them; by hand
_SPACED = re.compile(r"(?<![\w-])([A-Za-z]{1,5}) (\d{2,})(?![\w-])", re.ASCII)
_FIRST_CELL = re.compile(r"(?:[^;]*?: )?([^;]+)")


def identifiers_in(text: str) -> frozenset[str]:
    """The codes that a text names, in lower case: letters and at least two digits."""
    return frozenset(found.lower() for found in spelt_names(text) if _CODE.fullmatch(found))


@dataclass(frozen=True)
class ExactName:
    """A rare word of a question that ordinary language does not know: a version, a code, an address, a product. terms: ids, all of which
    a text has that holds it. is_coded: whether it has a digit or is an address, so that nothing else is meant.
    """

    terms: frozenset[int]
    is_coded: bool


def exact_names(question: str, frequencies: Mapping[int, int], passages: int) -> list[ExactName]:
    """Return the exact names of a question that documents hold. frequencies: {term id: passages of the base that hold it}."""
    most = max(FEW, SHARE * passages)
    found = []
    for word in dict.fromkeys(_EXACT.findall(normalise(question))):
        parts = terms(word)
        ids = frozenset(map(term_id, parts))
        is_rare = any(0 < frequencies.get(term_id(part), 0) <= most and not share_of_passages(part) for part in parts)
        if is_rare and ids <= frequencies.keys() and not _NO_NAME.fullmatch(word):
            found.append(ExactName(ids, _CODED.search(word) is not None))
    return found


def spelt_as_in(question: str, texts: Iterable[str]) -> str:
    """Return the question with each code as the documents write it: “PPR 9087” as PPR-9087 or PPR9087, where a text has that."""
    if not _SPACED.search(question):
        return question
    known = frozenset[str]().union(*map(identifiers_in, texts))

    def written(code: re.Match[str]) -> str:
        ways = (f"{code[1]}-{code[2]}", f"{code[1]}{code[2]}")
        return next((way for way in ways if way.lower() in known), code[0])

    return _SPACED.sub(written, question)


def letters_in(text: str) -> frozenset[str]:
    """Letters that name a kind by themselves: A 类, plan B. In English “I” and “A” are words, but for an A at an end."""
    found = list(_LETTER.finditer(text))
    if _HAN_ASKS.search(text):
        return frozenset(each[0] for each in found)
    ends = {each[0] for each in found if not re.match(r"\s*\w", text[each.end() :])}
    return frozenset(each[0] for each in found if each[0] not in "AI") | (ends & {"A"})


def says_letter(text: str, letter: str) -> bool:
    """Whether a text has a letter by itself."""
    return any(found[0] == letter for found in _LETTER.finditer(text))


def spelt_names(text: str) -> list[str]:
    """What a text names by its spelling: capitals within a word, capitals alone, digits; numbers as well."""
    return [found.rstrip(",-") for found in _SPELT.findall(normalise(text))]


def without_labels(text: str) -> str:
    """The text without codes, grades and versions, whose digits are no amount."""
    return _SPELT.sub(lambda found: " " if _LABEL.fullmatch(found[0]) else found[0], normalise(text))


def names(text: str, codes: Collection[str]) -> bool:
    """Whether a text names one of the codes, or a variant of one."""
    return any(is_variant(found, code) for found in identifiers_in(text) for code in codes)


def is_variant(code: str, asked: str) -> bool:
    """Whether a code is the one asked for, or that with a suffix."""
    return code == asked or code.startswith(f"{asked}-")


def names_others(text: str, codes: Collection[str]) -> bool:
    """Whether a text names codes of the same series as those asked for (KG-600 beside KG-400), and none of them."""
    found = identifiers_in(text)
    series = {_series(code) for code in codes}
    return any(_series(code) in series for code in found) and not names(text, codes)


def is_row_of(text: str, codes: Collection[str]) -> bool:
    """Whether a table row, said with its header, is about one of the codes: its first cell names it."""
    cell = _FIRST_CELL.match(text)
    return cell is not None and names(cell[1], codes)


def _series(code: str) -> str:
    return re.split(r"[-\d]", code, maxsplit=1)[0]
