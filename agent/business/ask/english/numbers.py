"""Numbers as English spells them, as digits: “fifty thousand”, “half a million”, “a dozen”, “two hundred and fifty”.

Only numbers of several words, tens and dozens are put into digits; one to twelve alone are read as words where a number may stand. In
capitals they are parts of names and left: “Twenty One Pilots”. What says no number (“a few thousand”) stays as it is, and is unknown.
"""

import re

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_SMALL = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_DOZEN = 12
_LONG = _ONES[13:] + _TENS  # alone in digits too
_WORD = "|".join(sorted((*_SMALL, *_SCALES), key=len, reverse=True))
_VAGUE = r"(?<!few )(?<!several )(?<!many )(?<!couple )(?<!couple of )(?<!some )(?<![\w.,-])"
_SPELLED = re.compile(
    rf"{_VAGUE}(?:an? (?=(?:hundred|thousand|million|billion)\b))?(?:{_WORD})(?:(?:[ -]| and )(?:{_WORD}))*\b(?!s\b)"
)
_PARTS = {"half": 0.5, "quarter of": 0.25, "a quarter of": 0.25, "three quarters of": 0.75}
_PART_OF = re.compile(r"\b(half|(?:a |three )?quarters? of) (?:a |an |one )?(thousand|million|billion)\b")
_DOZENS = re.compile(rf"\b(?:(half) a|an?|(\d+|{'|'.join(_ONES[2:13])})) dozen\b(?! or\b)")
_DIGITS_SCALED = re.compile(r"\b(\d+(?:\.\d+)?) (hundred|dozen)\b")


def in_digits(text: str) -> str:
    """A text with spelled numbers in digits; what is no whole number is left as it is."""
    text = _PART_OF.sub(lambda found: _plain(_PARTS[found[1]] * _SCALES[found[2]]), text)
    text = _DOZENS.sub(lambda found: _plain(_dozens(found[1], found[2]) * _DOZEN), text)
    text = _DIGITS_SCALED.sub(lambda found: _plain(float(found[1]) * _SCALES.get(found[2], _DOZEN)), text)
    return _SPELLED.sub(_spelled, text)


def _dozens(half: str | None, number: str | None) -> float:
    if half:
        return 0.5
    return float(_SMALL.get(number, number)) if number else 1.0


def _spelled(found: re.Match[str]) -> str:
    words = re.findall(r"[a-z]+", found[0])
    if len(words) == 1 and words[0] not in _LONG:
        return found[0]  # “one”: read as a word, or a pronoun
    value = _value([word for word in words if word not in ("and", "a", "an")])
    return found[0] if value is None else _plain(value)


def _value(words: list[str]) -> float | None:
    """The number that words say; None where they do not follow each other as in a number: “one two”."""
    total, group, last = 0.0, 0.0, 0
    for word in words:
        if word in _SMALL:
            small = _SMALL[word]
            is_after_tens = 20 <= last <= 90 and 0 < small < 10
            if last and not is_after_tens and last != 100:
                return None
            group, last = group + small, small
        elif word == "hundred":
            group, last = (group or 1) * 100, 100
        else:
            total, group, last = total + (group or 1) * _SCALES[word], 0.0, 0
    return total + group


def _plain(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"
