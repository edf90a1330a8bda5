"""What an item of a question may be, and how lists of phrases are written."""

from enum import StrEnum

from agent.business.ask.words.units import key_of


class Kind(StrEnum):
    """One letter each: a question without its filters is a word over them, and patterns are regular expressions."""

    COUNT = "C"
    ASK = "Q"
    LIST = "L"
    ALL = "A"
    DISTINCT = "U"
    SUM = "S"
    AVG = "V"
    MAX = "X"
    MIN = "N"
    TOP = "T"
    GROUP = "G"
    PERIOD = "g"
    NUMBER = "#"
    MODEL = "M"
    DIMENSION = "d"
    QUANTITY = "n"
    TIME = "t"
    MEASURE = "m"
    VALUE = "v"
    QUOTED = "q"
    COMPARE = "c"
    AFTER = "a"
    BETWEEN = "b"
    NOT = "!"
    AND = "&"
    OR = "o"
    ORDER = "O"
    DESCENDING = "D"
    ASCENDING = "E"
    WINDOW = "w"
    MUCH = "H"
    SELL = "s"
    EACH = "e"
    NEW = "W"
    SUFFIX = "u"
    SPREAD = "p"
    CURRENCY = "$"
    ADJECTIVE = "J"
    SHARE = "%"
    RATIO = ":"
    OUT_OF = "/"
    CHANGE = "^"
    PREVIOUS = "<"
    WHEN = "z"
    EXISTS = "y"
    THAN = ">"
    WEEKDAY = "k"
    ORDINAL = "i"
    BUY = "B"
    EVENT = "f"
    ROLE = "R"
    EMPTY = "0"
    USE = "1"
    THEN = "2"
    DURATION = "r"
    FILLED = "h"
    FRAMED = "F"
    STOP = " "
    UNKNOWN = "?"


def split_phrases(text: str) -> list[tuple[str, ...]]:
    return [key_of(phrase) for phrase in text.split(";")]


def words_in(text: str) -> frozenset[str]:
    """The words of a text that lists them, as they are written."""
    return frozenset(text.split())
