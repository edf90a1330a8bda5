"""The language of a text, from its script: enough for a filter, and right on titles of three words."""

import re

_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")

# Technical Chinese is full of Latin names, commands and code: one Han character in ten letters makes a text Chinese.
HAN_SHARE = 0.1
SAMPLE = 20_000  # characters


def detect_language(text: str) -> str:
    """Return `zh`, `ja`, `ko` or `en`; "" for a text without letters."""
    sample = text[:SAMPLE]
    letters = len(_LETTER.findall(sample))
    if not letters:
        return ""
    han, kana, hangul = (len(script.findall(sample)) for script in (_HAN, _KANA, _HANGUL))
    if kana > HAN_SHARE * letters and kana > han / 10:
        return "ja"
    if hangul > HAN_SHARE * letters:
        return "ko"
    return "zh" if han > HAN_SHARE * letters else "en"
