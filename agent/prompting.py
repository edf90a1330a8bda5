"""Prompts are files, agent/prompts/<name>.<en|zh>.md; a run keeps the hash of those it used."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "prompts"


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
