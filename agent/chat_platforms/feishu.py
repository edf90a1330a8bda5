"""Feishu, and Lark, which is the same under another address: events of version 2.0, and the parts of the open API that a bot needs.

Formats: https://open.feishu.cn/document – event subscriptions with an Encrypt Key, `im.message.receive_v1`, `im/v1/messages/:id/reply`,
`im/v1/chats/:id/members`, `contact/v3/users/batch`, `auth/v3/tenant_access_token/internal`, `bot/v3/info`.

Calls are read and replies sent here; identity, rights and answers are handled elsewhere. Nothing here uses the database: the calls block,
in a thread without a connection to it.
"""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from agent.connections.web_request import RequestFailed, send_web_request
from copilot_site.lib.outgoing.addresses import build_http_service_policy
from copilot_site.lib.text.json_input import load_answer_json, load_json, remove_forbidden_characters

MAX_MEMBERS = 500  # larger groups get no answers
WINDOW_S = 300  # tolerated age of a call's timestamp; redelivered events have a new one
MESSAGE = "im.message.receive_v1"
BLOCK = 16  # bytes of AES
PAGE, BATCH = 100, 50  # members of a group, and people of the directory, in one answer
MAX_BYTES = 2_000_000  # of one answer
MAX_TEXT = 8_000  # characters of a reply: a message holds 30 kB, and a Chinese character takes three bytes of it
_ID = re.compile(r"[!-~]{1,128}")  # printable ASCII; as the columns have it
_MENTION = re.compile(r"@_user_\d+")


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
class FeishuLink:
    """label: printed before it, "" for none."""

    label: str
    title: str
    url: str


@dataclass(frozen=True)
class FeishuReply:
    """Paragraphs of plain text, then links, each on a line of its own."""

    text: str
    links: tuple[FeishuLink, ...] = ()


def parse_event_call(
    account: Account, headers: Mapping[str, str], body: bytes, *, now: float
) -> Challenge | Incoming | None:
    """Read a call; return None where no answer is needed. now: in seconds since 1970. Raises NotFromPlatform.

    Unsigned calls are refused, except the check of the address, which Feishu does not sign.
    """
    signed = headers.get("X-Lark-Signature")
    try:
        if signed is not None:
            _check_signature(account, headers, body, signed, now)
        reply = load_json(decrypt_event(account.encrypt_key, load_json(body)["encrypt"]))  # ids are taken as they are
        if reply.get("type") == "url_verification":
            _require_equal_secret(reply["token"], account.verification_token)
            return Challenge({"challenge": str(reply["challenge"])})
        head = reply["header"]
        _require_equal_secret(head["token"], account.verification_token)
        _require_equal_secret(head["app_id"], account.app_id)
        if signed is None:
            raise NotFromPlatform("there is no signature")
        return _parse_message(account, head, reply["event"]) if head["event_type"] == MESSAGE else None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotFromPlatform(f"it is no event ({type(error).__name__})") from error


def decrypt_event(key: str, text: str) -> str:
    """Decrypt a Base64 text: initialisation vector, then AES-256-CBC under the SHA-256 of the key. Raises ValueError."""
    raw = base64.b64decode(text, validate=True)
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(raw[:BLOCK])).decryptor()
    padded = cipher.update(raw[BLOCK:]) + cipher.finalize()
    unpadder = PKCS7(BLOCK * 8).unpadder()
    return (unpadder.update(padded) + unpadder.finalize()).decode()


def compute_signature(key: str, timestamp: str, nonce: str, body: bytes) -> str:
    """Return the hexadecimal SHA-256 of time, nonce, Encrypt Key and the raw body."""
    return hashlib.sha256(f"{timestamp}{nonce}{key}".encode() + body).hexdigest()


def _check_signature(account: Account, headers: Mapping[str, str], body: bytes, signed: str, now: float) -> None:
    timestamp, nonce = headers.get("X-Lark-Request-Timestamp", ""), headers.get("X-Lark-Request-Nonce", "")
    _require_equal_secret(signed, compute_signature(account.encrypt_key, timestamp, nonce, body))
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > WINDOW_S:
        raise NotFromPlatform("it is too old, or of the future")


def _require_equal_secret(given: object, ours: str) -> None:
    if not ours or not isinstance(given, str) or not hmac.compare_digest(given.encode(), ours.encode()):
        raise NotFromPlatform("a token, an app or a signature is another")


def _parse_message(account: Account, head: Mapping[str, Any], event: Mapping[str, Any]) -> Incoming | None:
    """Read a message; return None for one from another bot, and for a group message without a mention of this bot."""
    message, sender = event["message"], event["sender"]
    mentions = message.get("mentions") or ()
    is_group = message["chat_type"] != "p2p"
    if sender.get("sender_type") != "user" or (
        is_group and not any(_is_mention_of_bot(account, one) for one in mentions)
    ):
        return None
    text = _extract_message_text(message["message_type"], load_answer_json(message["content"]))
    names = {
        one["key"]: "" if _is_mention_of_bot(account, one) else f"@{remove_forbidden_characters(one.get('name', ''))}"
        for one in mentions
    }
    return Incoming(
        event_id=_validate_id(head["event_id"]),
        chat_id=_validate_id(message["chat_id"]),
        message_id=_validate_id(message["message_id"]),
        sender_id=_validate_id(sender["sender_id"]["open_id"]),
        is_group=is_group,
        is_outside=sender.get("tenant_key") != head.get("tenant_key"),
        text=None if text is None else _MENTION.sub(lambda found: names.get(found[0], found[0]), text).strip(),
    )


def _is_mention_of_bot(account: Account, mention: Mapping[str, Any]) -> bool:
    return bool(account.bot_id) and (mention.get("id") or {}).get("open_id") == account.bot_id


def _extract_message_text(kind: str, content: Mapping[str, Any]) -> str | None:
    """Return the text of a text message or a post; None for other kinds."""
    if kind == "text":
        return str(content["text"])
    if kind != "post":
        return None
    post = content if "content" in content else list(content.values())[0]  # noqa: RUF015 - an empty one is a LookupError
    lines = ["".join(_extract_part_text(part) for part in line) for line in post["content"]]
    return "\n".join(filter(None, [post.get("title", ""), *lines]))


def _extract_part_text(part: Mapping[str, Any]) -> str:
    """Return the words of a part of a post's line; for a mention, the key that stands for it in a text."""
    return str(part.get("user_id", "") if part.get("tag") == "at" else part.get("text", ""))


@contextmanager
def _convert_form_errors(what: str) -> Iterator[None]:
    """Turn errors of an unexpected form into PlatformError."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise PlatformError(f"{what}: the answer has another form") from error


class FeishuCalls:
    """API calls for one account; the first one fetches the token. Each blocks, and raises PlatformError."""

    def __init__(self, account: Account) -> None:
        self._account, self._show_token_form = account, ""

    @_convert_form_errors("bot")
    def bot(self) -> Bot:
        bot_info = self._call_api("GET", "bot/v3/info")["bot"]
        return Bot(str(bot_info["open_id"]), str(bot_info.get("app_name", "")))

    @_convert_form_errors("mails_of")
    def mails_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return mail addresses from the company's directory there, by id; unknown ids are omitted."""
        found: dict[str, str] = {}
        every = sorted(ids)
        for start in range(0, len(every), BATCH):
            params = [("user_id_type", "open_id"), *(("user_ids", one) for one in every[start : start + BATCH])]
            for person in self._call_api("GET", "contact/v3/users/batch", params=params)["data"].get("items") or ():
                status = person.get("status") or {}
                mail = person.get("enterprise_email") or (self._account.takes_contact_mail and person.get("email"))
                if mail and not (status.get("is_resigned") or status.get("is_frozen") or status.get("is_exited")):
                    found[str(person["open_id"])] = str(mail)
        return found

    @_convert_form_errors("members_of")
    def members_of(self, chat_id: str) -> frozenset[str]:
        """Return all members of a group but bots. Raises TooLarge; never returns a partial list."""
        found: set[str] = set()
        for rows in self._iterate_pages(f"im/v1/chats/{_quote_path_part(chat_id)}/members"):
            found |= {str(row["member_id"]) for row in rows}
            if len(found) > MAX_MEMBERS:
                raise TooLarge(f"the group has more than {MAX_MEMBERS} members")
        if not found:
            raise PlatformError("the group has no members")
        return frozenset(found)

    def reply(self, message_id: str, reply: FeishuReply, *, key: str) -> None:
        """Reply to a message. key: a second call with the same key sends nothing."""
        body = {"msg_type": "post", "content": json.dumps(format_post(reply), ensure_ascii=False), "uuid": key}
        self._call_api(
            "POST",
            f"im/v1/messages/{_quote_path_part(message_id)}/reply",
            data=json.dumps(body, ensure_ascii=False).encode(),
        )

    def _iterate_pages(self, path: str) -> Iterator[Sequence[Mapping[str, Any]]]:
        token, seen = "", set[str]()
        while True:
            params = {"member_id_type": "open_id", "page_size": str(PAGE)} | ({"page_token": token} if token else {})
            data = self._call_api("GET", path, params=params)["data"]
            yield data.get("items") or ()
            if not data.get("has_more"):
                return
            token = str(data.get("page_token") or "")
            if not token or token in seen:
                raise PlatformError("the list of members does not end")
            seen.add(token)

    def _call_api(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        """Call the API and return its answer. Raises PlatformError where there is no answer, or an error code."""
        if not self._show_token_form:
            given = {"app_id": self._account.app_id, "app_secret": self._account.app_secret}
            got = self._send_api_request("POST", "auth/v3/tenant_access_token/internal", json=given)
            self._show_token_form = str(got["tenant_access_token"])
        headers = {
            "Authorization": f"Bearer {self._show_token_form}",
            "Content-Type": "application/json; charset=utf-8",
        }
        return self._send_api_request(method, path, headers=headers, **more)

    def _send_api_request(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        url = f"{self._account.base_url.rstrip('/')}/open-apis/{path}"
        try:
            answer = send_web_request(method, url, build_http_service_policy(url), most_bytes=MAX_BYTES, **more)
            reply: dict[str, Any] = load_answer_json(answer.body)
            code = reply["code"]
        except RequestFailed as error:
            raise PlatformError(f"{path}: {error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise PlatformError(f"{path}: what it answers cannot be read") from error
        if code != 0:
            raise PlatformError(f"{path}: {code} {str(reply.get('msg', ''))[:200]}")
        return reply


def format_post(reply: FeishuReply) -> dict[str, Any]:
    """Format a reply as a post, in which no text is read as a mention or a link."""
    text = reply.text if len(reply.text) <= MAX_TEXT else f"{reply.text[:MAX_TEXT].rstrip()} …"
    lines: list[list[dict[str, str]]] = [[{"tag": "text", "text": line or " "}] for line in text.splitlines()]
    for link in reply.links:
        label = [{"tag": "text", "text": f"{link.label} "}] if link.label else []
        lines.append([*label, {"tag": "a", "text": link.title, "href": link.url}])
    return {"zh_cn": {"title": "", "content": lines}}


def _validate_id(value: object) -> str:
    """Return one of Feishu's ids for storage. Raises ValueError."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("an id is none")
    return value


def _quote_path_part(text: str) -> str:
    """Return one of Feishu's ids for use in an address. Raises PlatformError for an invalid one."""
    if not re.fullmatch(r"[\w-]{1,128}", text, re.ASCII):
        raise PlatformError("an id is none")
    return text
