"""A wiki space of Feishu or Lark, by its open API."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.sources import base
from knowledge.sources.answers import find_nested_value, list_nested_objects
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    PathReaders,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.feishu_api import PAGE, Feishu, FeishuRefused, read_spreadsheet
from knowledge.sources.files import PathChoice
from knowledge.sources.http import Root, RootOrNone, check_safe_address, format_site
from knowledge.sources.rules import Pairs, Readers, find_local_group, find_usernames_by_email, list_path_prefixes
from knowledge.sources.wiki_pages import build_html_document, format_path_name

_READING = {"view", "edit", "full_access"}
_MADE = {"docx": ".md", "sheet": ".html"}  # of what is made from them
_IDS = {"openid": "open_id", "userid": "user_id", "unionid": "union_id"}  # of members, as people are looked up by them


class FeishuSettings(base.Settings):
    url: Root = build_settings_field(
        _("address of the API"), _("Lark: https://open.larksuite.com."), default="https://open.feishu.cn"
    )
    app_id: str = build_settings_field(
        _("application"), _("Its App ID, like cli_…."), pattern=r"^[A-Za-z0-9_-]{1,100}$"
    )
    space: str = build_settings_field(
        _("wiki space"), _("Its ID: the number in the address of its settings."), pattern=r"^[0-9]{1,30}$"
    )
    site: RootOrNone = build_settings_field(
        _("address of the company"), _("Like https://company.feishu.cn. Empty: pages are not linked."), default=""
    )
    groups: Pairs = build_settings_field(
        _("groups"),
        _(
            "One per line, like od-4e6ac4d14bcd = Engineering: a department or chat there, by its ID, and a "
            "group here. Nothing after the sign: nobody."
        ),
        default=[],
    )

    @property
    def address(self) -> str:
        return f"{format_site(self.url)} {self.app_id}"


@dataclass(frozen=True)
class _Node:
    """name: as a folder. above: tokens of the nodes that it lies below, from the top. folders: their names. file: its name as a
    document; "" for what is not read.
    """

    token: str
    name: str
    above: tuple[str, ...]
    folders: tuple[str, ...]
    file: str
    said: Mapping[str, Any]


class FeishuConnector(base.Connector):
    """Pages are known by their node tokens, which a move within the space keeps, and change with the time of their last edit.

    Documents (docx), spreadsheets and uploaded files are read; shortcuts belong where they lead to. A locked page, which does not inherit,
    lies in a folder of its own with what is below it.
    """

    label = _("Feishu or Lark wiki")
    about = _("The documents, spreadsheets and files of a wiki space of Feishu or Lark, with who can see them.")
    noun = _("wiki page")
    secret_label = _("App secret")
    takes_rights = True
    wants = FeishuSettings

    def __init__(self, settings: FeishuSettings, reading: ConnectorContext) -> None:
        check_safe_address(settings.url, has_secret=bool(reading.secret))
        self._settings, self._choice = settings, PathChoice()
        self._api = Feishu(url=settings.url, app_id=settings.app_id, secret=reading.secret, pace=reading.pace)
        self._nodes: list[_Node] | None = None
        self._locked: set[str] = set()
        self._problems: dict[str, Missed] = {}

    def rights(self) -> list[PathReaders]:
        """Return the members of the space, and of each locked page, which inherits nothing, those it is shared with."""
        nodes = self._read_nodes()
        needed = {token for node in nodes if node.file for token in (*node.above, node.token)}
        found = {"": self._build_readers(self._api.pages(f"wiki/v2/spaces/{self._settings.space}/members", "members"))}
        for node in nodes:
            if node.token in needed and self._is_locked(node):
                self._locked.add(node.token)
                found[list_path_prefixes([*node.folders, node.name])[-1]] = self._build_readers(
                    self._list_members(node)
                )
        return [PathReaders(prefix, readers.users, readers.groups) for prefix, readers in found.items()]

    def listing(self) -> Iterator[ListedItem | Missed]:
        nodes = self._read_nodes()
        yield from self._problems.values()
        for node in nodes:
            if node.file:
                yield self._build_item(node)

    def fetch(self, item: ListedItem) -> ItemContent:
        obj_token = str(item.memory.get("token", ""))
        if item.memory.get("type") == "sheet":
            return ItemContent(
                build_html_document(item.title, read_spreadsheet(self._api, obj_token, title=item.title))
            )
        token = quote(obj_token, safe="")
        if item.memory.get("type") == "docx":
            reply = self._api.ask("docs/v1/content", doc_token=token, doc_type="docx", content_type="markdown")
            text = str(reply.get("content") or "").strip() or f"# {item.title}"
            return ItemContent(f"{text}\n".encode())
        answer = self._api.download(f"drive/v1/files/{token}/download")
        if answer.status != 200:
            raise Unreadable(gettext("%(path)s cannot be downloaded.") % {"path": item.path})
        return ItemContent(answer.body)

    def close(self) -> None:
        self._api.close()

    def _read_nodes(self) -> list[_Node]:
        """Return all nodes of the space, parents first."""
        if self._nodes is None:
            self._nodes = list(self._iterate_nodes())
        return self._nodes

    def _iterate_nodes(self) -> Iterator[_Node]:
        path = f"wiki/v2/spaces/{self._settings.space}/nodes"
        entered, waiting = set[str](), deque([_Node("", "", (), (), "", {})])
        while waiting:
            parent = waiting.popleft()
            below = {"parent_node_token": parent.token} if parent.token else {}
            nodes = [page for page in self._api.pages(path, "items", **below) if page.get("node_type") != "shortcut"]
            names = Counter(self._format_node_name(entry).casefold() for entry in nodes)
            above = (*parent.above, parent.token) if parent.token else ()
            folders = (*parent.folders, parent.name) if parent.token else ()
            for element in nodes:
                token, name = str(element.get("node_token") or ""), self._format_node_name(element)
                if names[name.casefold()] > 1:  # a rule for one folder must not apply to another of its name
                    name = f"{name} ({token[-6:]})"
                if token and token not in entered:
                    entered.add(token)
                    node = _Node(token, name, above, folders, self._build_filename(element, name), element)
                    yield node
                    waiting.extend([node] if element.get("has_child") else [])

    def _format_node_name(self, data: Mapping[str, Any]) -> str:
        """Return a node's name as a folder, for rules: report.pdf → report (pdf)."""
        path = PurePosixPath(format_path_name(data.get("title")))
        return f"{path.stem} ({path.suffix[1:]})" if self._choice.takes(f"x{path.suffix}") else path.name

    def _build_filename(self, data: Mapping[str, Any], name: str) -> str:
        if ending := _MADE.get(str(data.get("obj_type"))):
            return f"{name}{ending}"
        path = PurePosixPath(str(data.get("title")).replace("/", "-"))
        is_read = data.get("obj_type") == "file" and self._choice.takes(f"x{path.suffix}")
        return f"{format_path_name(path.stem)}{path.suffix}" if is_read else ""

    def _build_item(self, node: _Node) -> ListedItem:
        edited = str(node.said.get("obj_edit_time") or "")
        own = [node.name] if node.token in self._locked else []
        return ListedItem(
            id=node.token,
            path="/".join([*node.folders, *own, node.file]),
            version=edited,
            title=str(node.said.get("title") or ""),
            url=f"{self._settings.site}/wiki/{quote(node.token)}" if self._settings.site else "",
            modified_at=datetime.fromtimestamp(int(edited), UTC) if edited.isdecimal() and len(edited) < 11 else None,
            memory={"token": str(node.said.get("obj_token") or ""), "type": str(node.said.get("obj_type") or "")},
        )

    def _is_locked(self, node: _Node) -> bool:
        """Tell whether a page is locked. Raises Unreadable where that is unknown."""
        reply = self._api.ask(f"drive/v2/permissions/{quote(node.token, safe='')}/public", type="wiki")
        found = find_nested_value(reply, "permission_public", "lock_switch")
        if not isinstance(found, bool):
            raise Unreadable(gettext("Feishu does not say whether “%(name)s” is locked.") % {"name": node.name})
        return found

    def _list_members(self, node: _Node) -> list[dict[str, Any]]:
        """Return those with whom a page and its children are shared."""
        reply = self._api.ask(f"drive/v1/permissions/{quote(node.token, safe='')}/members", type="wiki")
        return [
            entry
            for entry in list_nested_objects(reply, "items")
            if entry.get("perm") in _READING and entry.get("perm_type", "container") == "container"
        ]

    def _build_readers(self, members: Iterable[Mapping[str, Any]]) -> Readers:
        """Return readers: people by e-mail address, departments and chats by the settings' mapping."""
        addresses, groups, ids = set[str](), set[str](), dict[str, set[str]]()
        for member in members:
            kind, member_id = str(member.get("member_type") or ""), str(member.get("member_id") or "")
            if kind == "email":
                addresses.add(member_id)
            elif kind in _IDS:
                ids.setdefault(_IDS[kind], set()).update([member_id] if member.get("type", "user") == "user" else [])
            elif here := find_local_group(self._settings.groups, member_id):
                groups.add(here)
            elif here is None and kind != "appid":
                self._problems[member_id] = _build_unknown_group(kind, member_id)
        for kind, wanted in ids.items():
            addresses |= self._find_email_addresses(kind, sorted(wanted))
        return Readers(find_usernames_by_email(addresses), frozenset(groups))

    def _find_email_addresses(self, kind: str, ids: list[str]) -> set[str]:
        """Return people's e-mail addresses, the company's first; none where the application may not look them up."""
        found = set[str]()
        for start in range(0, len(ids), PAGE):
            part = ids[start : start + PAGE]
            try:
                reply = self._api.ask("contact/v3/users/batch", user_ids=part, user_id_type=kind)
            except FeishuRefused as error:
                self._problems[kind] = Missed(f"people:{kind}", str(error), is_branch=True)
                return found
            found |= {
                str(one.get("enterprise_email") or one.get("email") or "")
                for one in list_nested_objects(reply, "items")
            }
        return found


def _build_unknown_group(kind: str, member_id: str) -> Missed:
    why = gettext("It is not known who belongs to “%(name)s” (%(kind)s): say in the settings what it is called here.")
    return Missed(f"group:{member_id}", why % {"name": member_id, "kind": kind}, is_branch=True)


base.connectors.add("feishu", FeishuConnector)
