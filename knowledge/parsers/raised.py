"""Superscripts and subscripts as characters: in plain text 10 with a raised 6 is never 106."""

_MINUS = "-−–"
_PLAIN = "0123456789+=()" + _MINUS
_RAISED = str.maketrans(_PLAIN + "abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾⁻⁻⁻ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_LOWERED = str.maketrans(_PLAIN + "aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₌₍₎₋₋₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
DIGITS_RAISED = {char: chr(_RAISED[ord(char)]) for char in _PLAIN}
DIGITS_LOWERED = {char: chr(_LOWERED[ord(char)]) for char in _PLAIN}


def format_superscript(text: str) -> str:
    """Return a superscript in plain text: in raised characters where there are such, else ^(…); ordinals and marks (th, TM) as they are."""
    bare = text.strip()
    return text if len(bare) > 1 and bare.isalpha() else _format_script(text, _RAISED, "^")


def format_subscript(text: str) -> str:
    """Return a subscript in plain text: in lowered characters where there are such, else _(…)."""
    return _format_script(text, _LOWERED, "_")


def _format_script(text: str, table: dict[int, int], mark: str) -> str:
    bare = text.strip()
    if not bare:
        return text
    if all(ord(char) in table for char in bare):
        return text.translate(table)
    return text.replace(bare, f"{mark}({bare})" if len(bare) > 1 else mark + bare, 1) if bare[0].isalnum() else text
