"""How a chat platform is spoken to, and how one is found. One new platform is one new file in `platforms/` that calls `platforms.add`.

A platform reads what comes and says what is asked of it; who that is here, what they may read and what is answered is none of its
business. It touches no database, and everything that waits is called in a thread without one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from copilot_site.lib.registry import Registry

MOST_MEMBERS = 500  # of a group; for more nothing is answered


class NotFromPlatform(Exception):
    """A call that is not signed, too old, or of another app. Why is for the log; whoever calls learns nothing of it."""


class PlatformError(Exception):
    """The platform does not answer as it should, or refuses; the text is its own, for whoever sets it up."""


class TooLarge(PlatformError):
    """A group of more than MOST_MEMBERS."""


@dataclass(frozen=True)
class Account:
    """The app of the company at the platform. bot_id: what the platform calls the app's bot, "" before it was asked.

    takes_contact_mail: a mail address that people may have entered themselves counts as well as one that the company gave them.
    """

    base_url: str
    app_id: str
    app_secret: str
    encrypt_key: str
    verification_token: str
    bot_id: str = ""
    takes_contact_mail: bool = False


@dataclass(frozen=True)
class Challenge:
    """The platform asks whether this address is ours. answer: what it is to be answered, as JSON."""

    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Incoming:
    """A message to the bot. event_id: the same each time it is sent. text: without the mention of the bot; None where it is no text.

    is_outside: whoever wrote it belongs to another company.
    """

    event_id: str
    chat_id: str
    message_id: str
    sender_id: str
    is_group: bool
    is_outside: bool
    text: str | None


@dataclass(frozen=True)
class Bot:
    """What the platform says of the app: it answers, and the secret is right."""

    id: str
    name: str


@dataclass(frozen=True)
class Link:
    """label: before it, "" for none."""

    label: str
    title: str
    url: str


@dataclass(frozen=True)
class Reply:
    """What is said: paragraphs of plain text, then links, each on a line of its own."""

    text: str
    links: tuple[Link, ...] = ()


class Calls(Protocol):
    """What is asked of a platform for one account. Each method waits, and raises PlatformError."""

    def bot(self) -> Bot: ...

    def mails_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the mail addresses that the company's directory there has, by id; ids that it does not know are left out."""

    def members_of(self, chat_id: str) -> frozenset[str]:
        """Return everybody in a group but bots. Raises TooLarge; never returns a part of them."""

    def reply(self, message_id: str, reply: Reply, *, key: str) -> None:
        """Answer a message. key: the same again is sent once."""


class ChatPlatform(Protocol):
    """One kind of platform; instances hold no state. label: its name, the same in every language. address: the usual one."""

    name: str
    label: str
    address: str

    def received(
        self, account: Account, headers: Mapping[str, str], body: bytes, *, now: float
    ) -> Challenge | Incoming | None:
        """Read a call; None where there is nothing to answer. now: in seconds since 1970. Raises NotFromPlatform."""

    def calls(self, account: Account) -> Calls: ...


platforms: Registry[ChatPlatform] = Registry("chat platform")
