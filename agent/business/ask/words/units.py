"""A question as a row of units: an English word (stemmed), a Chinese character, a number, a quoted string or a sign."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from agent.business.ask.chinese import plain
from agent.business.ask.english.plain import in_plain_words, with_stops_outside
from agent.business.ask.words.places import with_country

_QUOTES = r"\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|《([^》]+)》|(?<![a-z])'([^']+)'(?![a-z])"
_UNIT = re.compile(
    rf"(?P<quoted>{_QUOTES})|(?P<number>\d[\d,]*(?:\.\d+)?(?:\s*(?:[百千]?万|亿|千|million|thousand|billion|bn|mn|k|m)(?![a-z]))?)|(?P<word>[a-zà-ÿ]+)(?:'s\b|’s\b)?"
    r"|(?P<han>[\u3400-\u9fff])|(?P<sign>[<>]=?|=|%)"
)
_SCALE = {
    "万": 10_000, "亿": 100_000_000, "千": 1_000, "百万": 1_000_000, "千万": 10_000_000, "thousand": 1_000, "k": 1_000,
    "million": 1_000_000, "mn": 1_000_000, "m": 1_000_000, "billion": 1_000_000_000, "bn": 1_000_000_000,
}  # fmt: skip
_NUMBER = r"\d[\d,]*(?:\.\d+)?\s*(?:[百千]?万|亿|千|million|thousand|k|m)?"
_REWORDED = [
    (
        re.compile(
            rf"(?:介于|在)?\s*({_NUMBER})\s*(?:元|块)?\s*(?:到|至|-|~|–|和|与)\s*({_NUMBER})\s*(?:元|块)?\s*之间"
        ),
        r" 介于 \1 和 \2 ",
    ),
    (re.compile(rf"\bfrom ({_NUMBER}) (?:to|up to) ({_NUMBER})"), r"between \1 and \2"),
    (re.compile(r"前\s*(\d+|[一二三四五六七八九十]+)\s*大"), r"前\1"),
    (re.compile(r"(?<![前\d])(\d+|[一二三四五六七八九十]+)\s*大(?=\w)"), r"前\1"),
    (re.compile(r"(销售|消费|订单|预算)总额"), r"总\1额"),
    (re.compile(r"各国(?!家)"), "各国家"),
    (re.compile(r"总(订单|预算)额"), r"总\1金额"),
    (re.compile(r"\bsign(ed|s)? up\b"), r"sign\1"),
    # an order as its counter, 单
    (re.compile(r"下单(?:次数|数量?|量)?最(多|少)"), r"订单最\1"),
    (re.compile(r"(?:下单(?:次数|数量?|量)|(?<!订)单[数量](?!位)|(?<!订)单子数量?)"), "订单数"),
    (re.compile(r"下(?:过|了)?(?=(?:多少|几)(?:个|张|笔)?(?:订单|单))"), ""),
    (re.compile(r"平均一?(?:个|张|笔)?单(?![价位元品独据号数量])"), "平均订单"),
    (re.compile(r"一(?:个|张|笔)?单(?=平均)"), "订单"),
    (re.compile(r"(多少|几|每一?|\d+)(?:个|张|笔)?单(?![价位元品独据号数量])子?"), r"\1订单"),
    # the thing that is counted with 首 is a song, with a counter of its own
    (re.compile(r"^([^歌曲]*)(多少|几|哪|哪一)首(?![歌曲单])"), r"\1\2首歌曲"),
]
# Before times are read: what is said of another time than today's.
_SAME = r"\b(?:the )?same (?:period|month|quarter|week|time)"
_SAME_PERIOD = [
    (re.compile(rf"{_SAME} (?:of |in )?(?:the )?(?:last|previous|prior) year\b", re.IGNORECASE), "year over year"),
    (re.compile(rf"{_SAME} (?:a|one) year (?:ago|earlier|before)\b", re.IGNORECASE), "year over year"),
    (re.compile(r"去年同期|上年同期|上一年同期|去年同月|去年同季"), "同比"),
    (re.compile(r"^(?:please )?name (?=(?:the|all|every|our|us|me|\d|any)\b)", re.IGNORECASE), "list "),
    (re.compile(r",? ?\(?(?:inclusive of|including) (?:today's date|today)\)?", re.IGNORECASE), ""),  # a past ends today
    (re.compile(r"各国(?!家)"), "各国家"),
    (re.compile(r"第([二三四五])(?=[高大多长贵低小少短晚早])"), r"第\1最"),
]  # fmt: skip
_SPACED = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\d\u3400-\u9fff])|(?<=\d)\s+(?=[\u3400-\u9fff])")
_SIGNS = {"$": "usd", "€": "eur", "¥": "cny", "£": "gbp"}
_SIGNED = re.compile(
    r"(?<![\w$])(?P<sign>[$€¥£])\s?(?P<amount>\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|万|千|百万|亿|thousand|million)\b)?)",
    re.IGNORECASE,
)
IRREGULAR = {
    "people": "person",
    "ids": "id",
    "ins": "in",
    "statuses": "status",
    "bonuses": "bonus",
    "buses": "bus",
    "campuses": "campus",
    "children": "child",
    "data": "data",
    "has": "has",
    "does": "does",
    "is": "is",
    "was": "was",
    "ones": "ones",
}


@dataclass(frozen=True)
class Unit:
    """text: what is matched. kind: word, han, number, quoted or sign. value: of a number; raw: as it was written."""

    text: str
    kind: str
    raw: str
    value: float = 0.0


def normalised(text: str) -> str:
    """One form of every character; no space between Chinese and a number or another Chinese character: “2024 年”."""
    text = unicodedata.normalize("NFKC", text).replace("‘", "'").replace("’", "'").replace("≥", ">=").replace("≤", "<=")
    return _SPACED.sub("", text)


def units_of(text: str) -> list[Unit]:
    """The units of a text, in order; punctuation separates and is gone."""
    return list(_units(normalised(text)))


def prepared(question: str) -> str:
    """A question as it is read: one form of every character, and of what is compared with another year."""
    text = in_plain_words(plain(with_country(with_stops_outside(_SIGNED.sub(_named_money, normalised(question))))))
    for pattern, form in _SAME_PERIOD:
        text = pattern.sub(form, text)
    return text


def _named_money(match: re.Match[str]) -> str:
    """“$20”: 20 usd."""
    return f"{match['amount']} {_SIGNS[match['sign']]}"


def reworded(text: str) -> str:
    """A part of a question in the forms that are read."""
    for pattern, form in _REWORDED:
        text = pattern.sub(form, text)
    return text


def key_of(phrase: str) -> tuple[str, ...]:
    """A phrase as it is looked up: the texts of its units."""
    return tuple(unit.text for unit in units_of(phrase))


def _units(text: str) -> Iterator[Unit]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form is longer: spans would not fit
        text = lowered
    for found in _UNIT.finditer(lowered):
        raw = text[found.start() : found.end()]
        if found["quoted"]:
            inner = raw[1:-1]
            yield Unit(inner, "quoted", inner)
        elif found["number"]:
            yield Unit(found["number"].replace(",", ""), "number", raw, _number(found["number"]))
        elif found["word"]:
            yield Unit(stem(found["word"]), "word", raw)
        else:
            yield Unit(found[0], "han" if found["han"] else "sign", raw)


def _number(text: str) -> float:
    digits = re.match(r"[\d,.]+", text)
    assert digits is not None  # a number begins with a digit
    scale = _SCALE.get(text[digits.end() :].strip(), 1)
    return round(float(digits[0].replace(",", "")) * scale, 6)


def stem(word: str) -> str:
    """A word without its plural ending; the same rule for questions and for names of tables and columns."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
