"""Tokens of a text, estimated: tokenizers of served models are not ours to have."""

from collections.abc import Iterable, Mapping
from typing import Any

WIDE = 0x2E80  # from here on (CJK and what follows) a character is about a token; before it four are
MESSAGE_TOKENS = 4  # around each message


def count_tokens(text: str) -> int:
    """About how many tokens; a tenth too many rather than too few."""
    wide = sum(ord(character) >= WIDE for character in text)
    return wide + -(-(len(text) - wide) // 4)


def count_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens these messages take, tool calls included."""
    return sum(MESSAGE_TOKENS + count_tokens(f"{m.get('content') or ''}{m.get('tool_calls') or ''}") for m in messages)
