"""Check a statement's text before any parser sees it: limited in length and nesting, without invisible characters."""

import unicodedata

from django.utils.translation import gettext as _

from business.guard.refusal import Reason, SqlRefused

MAX_CHARS = 8_000  # the longest statement in our own evaluation sets is 1,900
MAX_NESTING = 60  # nested brackets; parsers recurse
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


def clean(text: str) -> str:
    """Return the statement without surrounding white space and without one closing semicolon. Raises SqlRefused."""
    if len(text) > MAX_CHARS:
        raise SqlRefused(
            Reason.TEXT,
            _("The statement has %(n)d characters; at most %(max)d are read.") % {"n": len(text), "max": MAX_CHARS},
        )
    for character in text:
        if character not in "\t\n\r" and unicodedata.category(character) in INVISIBLE:
            raise SqlRefused(
                Reason.TEXT,
                _("The statement contains the invisible character U+%(code)04X: remove it.") % {"code": ord(character)},
            )
    if _nesting(text) > MAX_NESTING:
        raise SqlRefused(
            Reason.TEXT, _("Brackets are nested more than %(max)d deep: simplify the statement.") % {"max": MAX_NESTING}
        )
    statement = text.strip().removesuffix(";").rstrip()
    if not statement:
        raise SqlRefused(Reason.TEXT, _("The statement is empty: write one SELECT."))
    return statement


def _nesting(text: str) -> int:
    """Return the maximum depth of brackets; those in strings count too, to be strict."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(depth - 1, 0)
    return deepest
