"""The interface to chat platforms, and their registry.

To add a platform, add a file to `platforms/` that calls `platforms.add`.

A platform parses incoming calls and sends replies; identity, rights and answers are handled elsewhere. It uses no
database, and its blocking methods are called in a thread without a database connection.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from copilot_site.lib.registry import Registry

MAX_MEMBERS = 500  # larger groups get no answers


class NotFromPlatform(Exception):
    """A call that is unsigned, too old, or of another app. The reason is logged and not told to the caller."""


class PlatformError(Exception):
    """The platform does not answer as expected, or refuses; the text is its own, for the administrator."""


class TooLarge(PlatformError):
    """A group of more than MAX_MEMBERS."""


@dataclass(frozen=True)
class Account:
    """The company's app at the platform. bot_id: the platform's id of the bot, "" before the platform was queried.

    takes_contact_mail: accept mail addresses that people may have entered themselves besides those given by the
    company.
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
    """The platform verifies that this address is ours. answer: the expected reply, as JSON."""

    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Incoming:
    """A message to the bot. event_id: the same for each delivery.

    text: without the mention of the bot; None for other content. is_outside: the sender belongs to another company.
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
    """The platform's description of the bot; having one proves that the secret is right."""

    id: str
    name: str


@dataclass(frozen=True)
class Link:
    """label: printed before it, "" for none."""

    label: str
    title: str
    url: str


@dataclass(frozen=True)
class Reply:
    """Paragraphs of plain text, then links, each on a line of its own."""

    text: str
    links: tuple[Link, ...] = ()


class Calls(Protocol):
    """API calls to a platform for one account. Each method blocks, and raises PlatformError."""

    def bot(self) -> Bot: ...

    def mails_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return mail addresses from the company's directory there, by id; unknown ids are omitted."""

    def members_of(self, chat_id: str) -> frozenset[str]:
        """Return all members of a group but bots. Raises TooLarge; never returns a partial list."""

    def reply(self, message_id: str, reply: Reply, *, key: str) -> None:
        """Reply to a message. key: a second call with the same key sends nothing."""


class ChatPlatform(Protocol):
    """One kind of platform; instances hold no state. label: its name, the same in every language.

    address: the usual one.
    """

    name: str
    label: str
    address: str

    def received(
        self, account: Account, headers: Mapping[str, str], body: bytes, *, now: float
    ) -> Challenge | Incoming | None:
        """Read a call; return None where no answer is needed. now: in seconds since 1970. Raises NotFromPlatform."""

    def calls(self, account: Account) -> Calls: ...


platforms: Registry[ChatPlatform] = Registry("chat platform")
