"""Prompts are files, agent/prompts/<name>.<en|zh>.md; a run keeps the hash of those it used. Also counts tokens."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"
WIDE = re.compile("[\u2e80-\U0010ffff]+")  # CJK and above: about a token each; others four a token
MESSAGE_TOKENS = 4  # around each message


@dataclass(frozen=True)
class Prompt:
    """hash: the first 12 hexadecimal digits of the file's SHA-256."""

    name: str
    text: str
    hash: str


@cache
def load_prompt(name: str, language: str) -> Prompt:
    """Return a prompt. language: `zh` for Chinese, anything else is English. Raises FileNotFoundError."""
    file = f"{name}.{'zh' if language.startswith('zh') else 'en'}.md"
    data = (FOLDER / file).read_bytes()
    return Prompt(file.removesuffix(".md"), data.decode().strip(), hashlib.sha256(data).hexdigest()[:12])


def append_date(text: str, today: date) -> str:
    """Append today's date, which a model does not know, to a text: `last year`, `still valid` and `until` depend on it."""
    return f"{text}\n\ntoday: {today:%Y-%m-%d, %A}"


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather a tenth too many than too few.

    The tokenizers of served models are not available.
    """
    wide = 0 if text.isascii() else sum(map(len, WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // 4)


def count_message_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Estimate the tokens of messages, tool calls included."""
    return sum(MESSAGE_TOKENS + count_tokens(f"{m.get('content') or ''}{m.get('tool_calls') or ''}") for m in messages)
