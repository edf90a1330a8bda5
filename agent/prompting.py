"""Prompts are files, agent/prompts/<name>.<en|zh>.md; a run keeps the hash of those it used. And how many tokens a text has."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"
WIDE = re.compile("[\u2e80-\U0010ffff]+")  # CJK and what follows: a character is about a token; before it four are
MESSAGE_TOKENS = 4  # around each message


@dataclass(frozen=True)
class Prompt:
    """hash: the first 12 hexadecimal digits of the file's SHA-256."""

    name: str
    text: str
    hash: str


@cache
def prompt(name: str, language: str) -> Prompt:
    """language: `zh` for Chinese, anything else is English. Raises FileNotFoundError."""
    file = f"{name}.{'zh' if language.startswith('zh') else 'en'}.md"
    data = (FOLDER / file).read_bytes()
    return Prompt(file.removesuffix(".md"), data.decode().strip(), hashlib.sha256(data).hexdigest()[:12])


def dated(text: str, today: date) -> str:
    """A text with the day it is read on, which a model does not know: `last year`, `still valid` and `until` count from it."""
    return f"{text}\n\ntoday: {today:%Y-%m-%d, %A}"


def count_tokens(text: str) -> int:
    """About how many tokens: tokenizers of served models are not ours to have; a tenth too many rather than too few."""
    wide = 0 if text.isascii() else sum(map(len, WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // 4)


def count_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens these messages take, tool calls included."""
    return sum(MESSAGE_TOKENS + count_tokens(f"{m.get('content') or ''}{m.get('tool_calls') or ''}") for m in messages)
