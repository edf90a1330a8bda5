"""A number of a workbook as its number format shows it: per cent, currency, groups, decimals, leading zeros, fractions, powers of ten.

Dates are none of it: calamine reads them. No package that is kept does this (PyPI has ports of SheetJS' SSF, the last of 2020 to 2025).
A format that is not understood gives None, and the cell is shown plain.
Source: ECMA-376 part 1, 18.8.30 (numFmts) and 18.8.31 (format codes); group and decimal signs are those of the code, not of a country.
"""

import operator
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, takewhile

GENERAL = "General"
BUILT_IN = {
    "0": GENERAL, "1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%", "11": "0.00E+00",
    "12": "# ?/?", "13": "# ??/??", "37": "#,##0;(#,##0)", "38": "#,##0;(#,##0)", "39": "#,##0.00;(#,##0.00)",
    "40": "#,##0.00;(#,##0.00)", "48": "##0.0E+0", "49": "@",
}  # fmt: skip
PRECISION = 15  # digits that a spreadsheet keeps of a number
_MAX_WHOLE = 10**21  # larger whole numbers use a power of ten
_MAX_PLACES = 30  # Excel's most decimals
_MAX_CODE = 255  # characters; Excel's
_EXACT = Context(prec=700)  # digits: the largest number and the most decimals
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[([^\]]*)\]|(General)|(E[+-])|(.)', re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[\d.]+)")
_COMPARE = {
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "=": operator.eq
}  # fmt: skip
_OF_DATES = frozenset("ymdhsYMDHSbBgG")

Token = tuple[str, str]
"""Kind and text: a literal; a placeholder (0, #, ?); or a sign of its own kind (. , % / E+ E- @ General)."""


def format_plain_number(value: float) -> str:
    """Return a number without a format: whole ones with all digits, others with those that a spreadsheet keeps."""
    if float(value).is_integer() and abs(value) < _MAX_WHOLE:
        return str(int(value))
    return f"{value:.{PRECISION}g}"


def format_number(value: float, code: str) -> str | None:
    """Return a number as people see it in its cell; None where the format shows nothing, is of dates, or is not supported."""
    number = Decimal(f"{value:.{PRECISION}g}")
    if len(code) > _MAX_CODE or not number.is_finite():
        return None
    parts = split_sections(code)[:3]
    chosen = _choose_section(number, parts)
    if chosen is None:
        return None
    tokens = _tokenise_section(parts[chosen])
    if tokens is None:
        return None
    has_own_sign = (
        chosen == 1 and not any(map(_parse_condition, parts)) and _list_literals(parts[0]) != _list_literals(parts[1])
    )
    text = _render_number(abs(number), tokens)
    if text is None:
        return None
    shown = text if has_own_sign or number >= 0 or not re.search("[1-9]", text) else f"-{text}"
    return " ".join(shown.split()) or None


@lru_cache(maxsize=256)
def split_sections(code: str) -> tuple[str, ...]:
    """Split a format code into its sections: positive, negative, zero and text, as far as given."""
    found = [""]
    for token in _TOKEN.finditer(code):
        if token[0] == ";":
            found.append("")
        else:
            found[-1] += token[0]
    return tuple(found)


def _choose_section(number: Decimal, parts: Sequence[str]) -> int | None:
    """Return the section for a number: the first whose condition holds, else by its sign."""
    conditions = [_parse_condition(part) for part in parts]
    if any(conditions):
        holds = [condition is None or _COMPARE[condition[0]](number, condition[1]) for condition in conditions]
        return holds.index(True) if True in holds else None
    if len(parts) > 1 and number < 0:
        return 1
    return 2 if len(parts) > 2 and number == 0 else 0


def _parse_condition(part: str) -> tuple[str, Decimal] | None:
    found = next((match for token in _TOKEN.finditer(part) if (match := _CONDITION.fullmatch(token[3] or ""))), None)
    return (found[1], Decimal(found[2])) if found else None


@lru_cache(maxsize=256)
def _tokenise_section(part: str) -> tuple[Token, ...] | None:
    """Return a section in pieces; None for one of dates and times."""
    found: list[Token] = []
    for quoted, escaped, bracketed, general, power, sign in (match.groups() for match in _TOKEN.finditer(part)):
        if general:
            found.append((GENERAL, ""))
        elif power:
            found.append((power.upper(), ""))
        elif bracketed is not None:
            if bracketed.startswith("$"):
                found.append(("literal", bracketed[1:].partition("-")[0]))
            elif bracketed and set(bracketed) <= _OF_DATES and len(set(bracketed.lower())) == 1:
                return None  # [h], [mm]: hours that have passed
        elif sign is not None and sign in "0#?":
            found.append(("digit", sign))
        elif sign is not None and sign in ".,%/@":
            found.append((sign, sign))
        elif sign is not None and sign in _OF_DATES:
            return None
        else:
            found.append(("literal", quoted or escaped or sign or ""))
    return tuple(found)


def _list_literals(part: str) -> list[str]:
    """Return a section's text beside the digits; a negative section without any differs by colour alone."""
    return [text for kind, text in _tokenise_section(part) or () if kind == "literal" and text.strip()]


def _render_number(number: Decimal, tokens: Sequence[Token]) -> str | None:
    """Format an unsigned number by one section."""
    kinds = [kind for kind, _text in tokens]
    if GENERAL in kinds or "@" in kinds:
        return "".join(format_plain_number(float(number)) if kind in (GENERAL, "@") else text for kind, text in tokens)
    places = [at for at, kind in enumerate(kinds) if kind == "digit"]
    if not places:
        return "".join(text for _kind, text in tokens)
    number *= Decimal(100) ** kinds.count("%")
    if "/" in kinds[places[0] :]:
        return _format_fraction(number, tokens, places)
    power = next((at for at, kind in enumerate(kinds) if kind.startswith("E")), None)
    if power is not None:
        return _format_scientific(number, tokens, power)
    return _format_decimal(number, tokens)


def _format_decimal(number: Decimal, tokens: Sequence[Token]) -> str | None:
    """Put digits into their places: the first takes all that are left, text between stays (000-00-000)."""
    kinds = [kind for kind, _text in tokens]
    dot = kinds.index(".") if "." in kinds else len(tokens)
    whole = [at for at in range(dot) if kinds[at] == "digit"]
    parted = [at for at in range(dot + 1, len(tokens)) if kinds[at] == "digit"]
    if len(parted) > _MAX_PLACES:
        return None
    scale = sum(len(list(takewhile(lambda kind: kind == ",", kinds[at + 1 :]))) for at in (*whole[-1:], *parted[-1:]))
    is_grouped = "," in kinds[whole[0] : whole[-1]] if whole else False
    rounded = number.scaleb(-3 * scale).quantize(Decimal(1).scaleb(-len(parted)), ROUND_HALF_UP, _EXACT)
    digits, _dot, decimals = f"{rounded:f}".partition(".")
    least = sum(1 for at in whole if any(tokens[before][1] == "0" for before in whole if before <= at))
    digits = digits.lstrip("0").rjust(least, "0")
    if is_grouped:
        digits = _group_digits(digits)
        filled = dict.fromkeys(whole, "") | {whole[0]: digits}
    else:
        filled = _assign_digits(digits, whole)
    kept = len(decimals)
    while kept and decimals[kept - 1] == "0" and tokens[parted[kept - 1]][1] != "0":
        kept -= 1
    filled |= {at: decimals[i] if i < kept else "" for i, at in enumerate(parted)}
    filled |= {at: "" for at, kind in enumerate(kinds) if kind == ","} | {dot: "." if kept else ""}
    if not whole:
        filled[dot] = f"{digits}{filled[dot]}"
    return "".join(filled.get(at, text) for at, (_kind, text) in enumerate(tokens))


def _group_digits(digits: str) -> str:
    return re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", digits)


def _assign_digits(digits: str, places: Sequence[int]) -> dict[int, str]:
    """Return a digit for each place from the right; the first place takes all that are left."""
    found: dict[int, str] = {}
    for at in reversed(places):
        found[at], digits = (digits, "") if at == places[0] else (digits[-1:], digits[:-1])
    return found


def _format_scientific(number: Decimal, tokens: Sequence[Token], at: int) -> str | None:
    """Format as 6.2E+15; with several places before the dot the power is a multiple of their number."""
    before, sign, after = tokens[:at], tokens[at][0], tokens[at + 1 :]
    kinds = [kind for kind, _text in before]
    step = kinds[: kinds.index(".") if "." in kinds else None].count("digit") or 1
    places = kinds.count("digit") - step
    exponent = number.adjusted() // step * step if number else 0
    if number and number.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT) >= 10**step:
        exponent += step
    words = _format_decimal(number.scaleb(-exponent), before)
    least = sum(kind == "digit" for kind, _text in after)
    rest = "".join(text for kind, text in after if kind != "digit")
    mark = "-" if exponent < 0 else sign[1].replace("-", "")
    return None if words is None else f"{words}E{mark}{str(abs(exponent)).rjust(least, '0')}{rest}"


def _format_fraction(number: Decimal, tokens: Sequence[Token], places: Sequence[int]) -> str | None:
    """Format as 1 1/2: the nearest fraction with as many denominator digits as places, or over the given denominator."""
    slash = next(at for at, (kind, _text) in enumerate(tokens) if kind == "/")
    below = "".join(text for _kind, text in tokens[slash + 1 :]).strip()
    over = [at for at in places if at < slash]
    has_whole = any(b - a > 1 for a, b in pairwise(over))
    if not over or not re.fullmatch(r"[#?0]{1,5}|[1-9]\d{0,4}", below):
        return None
    exact = Fraction(number)
    whole = exact.numerator // exact.denominator if has_whole else 0
    if below[0] in "#?0":
        part = (exact - whole).limit_denominator(10 ** len(below) - 1)
        top, bottom = part.numerator, part.denominator
    else:
        bottom = int(below)
        top = round((exact - whole) * bottom)
    if has_whole and top == bottom:
        whole, top = whole + 1, 0
    if has_whole and not top:
        return str(whole)
    return f"{whole} {top}/{bottom}" if has_whole and whole else f"{top}/{bottom}"
