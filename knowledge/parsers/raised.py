"""Superscripts and subscripts as characters: in plain text 10 with a raised 6 is never 106."""

from knowledge.parsers.hidden import all_marks, with_mark, without_marks

_MINUS = "-−–"
_PLAIN = "0123456789+=()" + _MINUS
_RAISED = str.maketrans(_PLAIN + "abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾⁻⁻⁻ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_LOWERED = str.maketrans(_PLAIN + "aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₌₍₎₋₋₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
DIGITS_RAISED = {char: chr(_RAISED[ord(char)]) for char in _PLAIN}
DIGITS_LOWERED = {char: chr(_LOWERED[ord(char)]) for char in _PLAIN}


def raised(text: str) -> str:
    """A superscript in plain text: in raised characters where there are such, else ^(…); ordinals and marks (th, TM) as they are."""
    bare = without_marks(text).strip()
    return text if len(bare) > 1 and bare.isalpha() else _set_off(text, _RAISED, "^")


def lowered(text: str) -> str:
    """A subscript in plain text: in lowered characters where there are such, else _(…)."""
    return _set_off(text, _LOWERED, "_")


def _set_off(text: str, table: dict[int, int], mark: str) -> str:
    """With the marks of hidden pieces where they were: these hold numbers of their own."""
    words = without_marks(text)
    bare = words.strip()
    if not bare:
        return text
    if all(ord(char) in table for char in bare):
        words = words.translate(table)
    elif bare[0].isalnum():
        words = words.replace(bare, f"{mark}({bare})" if len(bare) > 1 else mark + bare, 1)
    return with_mark(words, all_marks(text))
