"""Feishu as a test has it: a server that speaks its published formats, and the events that it would send, encrypted and signed.

As https://open.feishu.cn/document has them (November 2026): tenant_access_token, bot info, people of the directory in batches of at most
50, members of a group in pages, replies with an idempotent `uuid`; events of version 2.0 under an Encrypt Key.
"""

import base64
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from agent.chat_platforms.setting_up import save_bot
from agent.models import ChatBot

APP, SECRET, KEY, TOKEN, BOT, TENANT = "cli_a1", "s3cret", "encrypt-key", "verify-token", "ou_bot", "tenant-1"
SECRETS = {"app_secret": SECRET, "encrypt_key": KEY, "verification_token": TOKEN}
SITE = "https://copilot.example.com"


@dataclass
class Feishu:
    """people: what the directory says of each, by open_id. groups: members by chat. page_size: of a group, however many are asked for.

    faults: by path, what is answered there instead. replies: what was sent to each message, once for each uuid.
    """

    url: str
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    page_size: int = 2
    faults: dict[str, dict[str, Any]] = field(default_factory=dict)
    replies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    on_members: Callable[[], None] | None = None
    _sent: set[str] = field(default_factory=set)
    came: threading.Event = field(default_factory=threading.Event)

    def employ(self, open_id: str, mail: str, **more: Any) -> str:
        self.people[open_id] = {"open_id": open_id, "name": open_id, "enterprise_email": mail, "status": {}, **more}
        return open_id

    def said(self, message_id: str) -> list[str]:
        """The lines of each reply to a message, one text for each."""
        return [lines_of(reply) for reply in self.replies.get(message_id, ())]

    def links(self, message_id: str) -> dict[str, str]:
        """Titles and addresses of the only reply's links."""
        (reply,) = self.replies[message_id]
        return {part["text"]: part["href"] for line in reply["zh_cn"]["content"] for part in line if part["tag"] == "a"}

    def answer(self, method: str, path: str, query: Mapping[str, Sequence[str]], body: Any, token: str) -> Any:
        if path in self.faults:
            return self.faults[path]
        if path == "auth/v3/tenant_access_token/internal":
            good = body == {"app_id": APP, "app_secret": SECRET}
            return ok(tenant_access_token="t-1", expire=7200) if good else {"code": 10003, "msg": "invalid param"}
        if token != "Bearer t-1":
            return {"code": 99991663, "msg": "Invalid access token for authorization. Please make a test with it."}
        return self._answered(method, path.split("/"), query, body)

    def _answered(self, method: str, path: list[str], query: Mapping[str, Sequence[str]], body: Any) -> Any:
        match path:
            case ["bot", "v3", "info"]:
                said = ok(bot={"open_id": BOT, "app_name": "Copilot", "activate_status": 2})
            case ["contact", "v3", "users", "batch"] if len(query["user_ids"]) <= 50:
                assert query["user_id_type"] == ["open_id"]
                said = ok(data={"items": [self.people[one] for one in query["user_ids"] if one in self.people]})
            case ["im", "v1", "chats", chat_id, "members"]:
                said = self._members(chat_id, int(query.get("page_token", ["0"])[0]))
            case ["im", "v1", "messages", message_id, "reply"] if method == "POST":
                said = self._take(message_id, body)
            case _:
                said = {"code": 99992402, "msg": "field validation failed"}
        return said

    def _members(self, chat_id: str, start: int) -> Any:
        if self.on_members:
            self.on_members()
        if chat_id not in self.groups:
            return {"code": 232011, "msg": "Operator can NOT be out of the chat."}
        every = self.groups[chat_id]
        rows = [
            {"member_id_type": "open_id", "member_id": one, "name": one, "tenant_key": TENANT}
            for one in every[start : start + self.page_size]
        ]
        end = start + self.page_size
        has_more = end < len(every)
        more = {"page_token": str(end)} if has_more else {}
        return ok(data={"items": rows, "has_more": has_more, "member_total": len(every), **more})

    def _take(self, message_id: str, body: Mapping[str, Any]) -> Any:
        assert body["msg_type"] == "post"
        assert len(body["uuid"]) <= 50
        if body["uuid"] not in self._sent:
            self._sent.add(body["uuid"])
            self.replies.setdefault(message_id, []).append(json.loads(body["content"]))
        self.came.set()
        return ok(data={"message_id": f"om_{uuid4().hex}", "msg_type": "post"})


def ok(**more: Any) -> dict[str, Any]:
    return {"code": 0, "msg": "ok", **more}


def lines_of(post: Mapping[str, Any]) -> str:
    return "\n".join("".join(part["text"] for part in line) for line in post["zh_cn"]["content"])


@contextmanager
def serving_feishu() -> Iterator[Feishu]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = urlsplit(self.path)
            path = at.path.removeprefix("/open-apis/")
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            feishu.asked.append(path)
            said = feishu.answer(
                self.command,
                path,
                parse_qs(at.query),
                json.loads(raw) if raw else None,
                self.headers.get("Authorization", ""),
            )
            body = json.dumps(said).encode()
            self.send_response(200 if said["code"] == 0 else 400)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        feishu = Feishu(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield feishu
        finally:
            server.shutdown()


def make_bot(feishu: Feishu, settings: Any, **more: Any) -> ChatBot:
    """The company's app there, as an administrator would have entered it."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    row = ChatBot(
        platform="feishu", name="Copilot", base_url=feishu.url, app_id=APP, bot_id=BOT, is_active=True, **more
    )
    save_bot(None, row, site=SITE, secrets=SECRETS)
    return row


def message(
    text: str,
    *,
    sender: str = "ou_anna",
    chat: str = "",
    kind: str = "text",
    content: Mapping[str, Any] | None = None,
    mentions: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """The event of a message; in the group `chat`, or to the bot alone. content: of another kind than text. more: of its head."""
    return {
        "schema": "2.0",
        "header": {
            "event_id": uuid4().hex,
            "token": TOKEN,
            "create_time": str(int(time.time() * 1000)),
            "event_type": "im.message.receive_v1",
            "tenant_key": TENANT,
            "app_id": APP,
            **more,
        },
        "event": {
            "sender": {
                "sender_id": {"union_id": "on_1", "user_id": "u1", "open_id": sender},
                "sender_type": "user",
                "tenant_key": TENANT,
            },
            "message": {
                "message_id": f"om_{uuid4().hex}",
                "create_time": str(int(time.time() * 1000)),
                "chat_id": chat or f"oc_{sender}",
                "chat_type": "group" if chat else "p2p",
                "message_type": kind,
                "content": json.dumps(content if content is not None else {"text": text}),
                "mentions": list(mentions),
            },
        },
    }


def mention(key: str = "@_user_1", open_id: str = BOT, name: str = "Copilot") -> dict[str, Any]:
    return {
        "key": key,
        "id": {"union_id": "on_9", "user_id": "", "open_id": open_id},
        "name": name,
        "tenant_key": TENANT,
    }


def to_group(text: str, chat: str, **more: Any) -> dict[str, Any]:
    """A message in a group that mentions the bot."""
    return message(f"@_user_1 {text}", chat=chat, mentions=[mention()], **more)


def message_id(event: Mapping[str, Any]) -> str:
    return str(event["event"]["message"]["message_id"])


def encrypted(said: Mapping[str, Any], key: str = KEY) -> bytes:
    """The body of a call: AES-256-CBC under the SHA-256 of the key."""
    iv, padder = os.urandom(16), PKCS7(128).padder()
    padded = padder.update(json.dumps(said).encode()) + padder.finalize()
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(iv)).encryptor()
    raw = iv + cipher.update(padded) + cipher.finalize()
    return json.dumps({"encrypt": base64.b64encode(raw).decode()}).encode()


def signed(body: bytes, *, key: str = KEY, at: float | None = None) -> dict[str, str]:
    """The headers of a call. at: seconds since 1970, now where it is left out."""
    timestamp, nonce = str(int(time.time() if at is None else at)), uuid4().hex
    digest = hashlib.sha256(f"{timestamp}{nonce}{key}".encode() + body).hexdigest()
    return {"X-Lark-Request-Timestamp": timestamp, "X-Lark-Request-Nonce": nonce, "X-Lark-Signature": digest}
