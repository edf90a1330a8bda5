"""A piece of a page from outside, as it was read: a search's excerpt, or characters of a page's main text."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

TITLE_CHARACTERS = 300


@dataclass(frozen=True)
class WebPassage:
    """url: where it came from in the end. start, end: characters of the page's text as it was read; of a search's excerpt those of the
    excerpt. read_at: aware.
    """

    url: str
    title: str
    text: str
    start: int
    end: int
    read_at: datetime

    @property
    def host(self) -> str:
        return host_of(self.url)

    @property
    def hash(self) -> str:
        """SHA-256 of its text, hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def evidence_id(self) -> str:
        """Made from where it stands and what it says: `web:1a2b3c4d5e6f:0-812:9f8e7d6c`."""
        address = hashlib.sha256(self.url.encode()).hexdigest()[:12]
        return f"web:{address}:{self.start}-{self.end}:{self.hash[:8]}"


def host_of(url: str) -> str:
    """ "" for what has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
