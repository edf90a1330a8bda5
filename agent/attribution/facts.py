"""What of a sentence can be checked to the letter: its numbers, dates, names and addresses."""

import re
import unicodedata
from decimal import Decimal
from typing import Final

_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_TENS: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_WORDS: Final = {
    name: Decimal(value)
    for value, names in enumerate(
        (
            "zero", "one first", "two second twice", "three third", "four fourth", "five fifth", "six sixth",
            "seven seventh", "eight eighth", "nine ninth", "ten tenth", "eleven", "twelve",
        )
    )
    for name in names.split()
} | {"fifteen": Decimal(15), "twenty": Decimal(20), "thirty": Decimal(30), "half": Decimal("0.5")}  # fmt: skip
_MONTHS: Final = {
    name: Decimal(place)
    for place, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_CHINESE = re.compile(r"(?:百分之)?[零〇一二两三四五六七八九十百千万亿]+")
_WORD = re.compile(r"[A-Za-z]+")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[\w.\-/]*[A-Za-z])(?:[A-Za-z]+[a-z][A-Z]\w*|\w*[A-Za-z]\w*(?:[._/-]\w+)*[\d_]\w*|[A-Z]{2,}\w*|\w+(?:[_./]\w+)+)"
)
_CAPITALISED = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]{2,}")
_QUOTED = re.compile(r"[《「『“\"]([^》」』”\"]{2,40})[》」』”\"]")
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>（）()\[\]，。；、]+|[\w.+-]+@[\w-]+\.[\w.]+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")


def numbers(text: str) -> set[Decimal]:
    """The numbers that stand in digits, months by name included, as values."""
    plain = unicodedata.normalize("NFKC", text)
    found = {Decimal(match[0].replace(",", "")) for match in _NUMBER.finditer(plain)}
    words = {word.lower() for word in _WORD.findall(plain)} - {"may", "mar"}
    return found | {_MONTHS[word] for word in words & set(_MONTHS)}


def sayable(text: str) -> set[Decimal]:
    """The numbers that a text says in any way, in words too: what a sentence may repeat in digits."""
    plain = unicodedata.normalize("NFKC", text)
    words = {word.lower() for word in _WORD.findall(plain)}
    named = {_WORDS[word] for word in words & set(_WORDS)} | {_MONTHS[word] for word in words & set(_MONTHS)}
    return (
        numbers(text) | named | {value for match in _CHINESE.findall(plain) if (value := _chinese(match)) is not None}
    )


def _chinese(text: str) -> Decimal | None:
    """二十五 → 25, 百分之三十 → 30, 一九九八 → 1998."""
    text = text.removeprefix("百分之")
    if not any(char in _TENS for char in text):
        return Decimal("".join(str(_DIGITS[char]) for char in text)) if text else None
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif _TENS[char] >= 10_000:
            total, section, digit = (total + section + digit or 1) * _TENS[char], 0, 0
        else:
            section, digit = section + (digit or 1) * _TENS[char], 0
    return Decimal(total + section + digit)


def names(sentence: str, *, capitalised: bool) -> set[str]:
    """Words that name one thing and must not be made up: identifiers, quoted titles and, if asked, capitalised words."""
    found = {match[0] for match in _IDENTIFIER.finditer(sentence)} | set(_QUOTED.findall(sentence))
    return found | set(_CAPITALISED.findall(sentence)) if capitalised else found


def unsupported_fact(sentence: str, evidence: str, *, also: str) -> str:
    """The first fact of a sentence that the evidence does not say; "" where it says them all.

    also: what may be repeated although no evidence says it: the question, and results of calculations.
    """
    allowed = f"{evidence}\n{also}"
    plain = _folded(allowed)
    for address in ADDRESS.findall(sentence):
        if _folded(address.rstrip(".,;:!?")) not in _folded(evidence):
            return f"address {address}"
    known = sayable(allowed)
    for number in sorted(numbers(ADDRESS.sub(" ", sentence))):
        if number not in known:
            return f"number {number}"
    is_latin = len(_HAN.findall(evidence)) * 4 < len(evidence)
    for name in sorted(names(sentence, capitalised=is_latin)):
        if _folded(name) not in plain:
            return f"name {name}"
    return ""


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
