"""Tokens of a text, estimated: tokenizers of served models are not ours to have."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

WIDE = re.compile("[\u2e80-\U0010ffff]+")  # CJK and what follows: a character is about a token; before it four are
MESSAGE_TOKENS = 4  # around each message


def count_tokens(text: str) -> int:
    """About how many tokens; a tenth too many rather than too few."""
    wide = 0 if text.isascii() else sum(map(len, WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // 4)


def count_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens these messages take, tool calls included."""
    return sum(MESSAGE_TOKENS + count_tokens(f"{m.get('content') or ''}{m.get('tool_calls') or ''}") for m in messages)
