"""Names in two languages: a folder called "部署规范 | Deployment" is "Deployment" to whoever reads English."""

import re

from django.utils.translation import get_language

_HALVES = re.compile(r"([^|｜]+?)(?: \| | ?｜ ?)([^|｜]+)")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]{3}")  # "会议 | 2026" is a name in one language


def in_language(name: str) -> str:
    """Return the half of a name in Chinese and English that is in the reader's language; any other name as it is."""
    halves = found.groups() if (found := _HALVES.fullmatch(name)) else ()
    english = [half for half in halves if _WORD.search(half) and not _HAN.search(half)]
    chinese = [half for half in halves if _HAN.search(half)]
    if len(english) != 1 or len(chinese) != 1:
        return name
    return (chinese if (get_language() or "").startswith("zh") else english)[0]
