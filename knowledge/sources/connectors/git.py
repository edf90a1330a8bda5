"""Read a git repository with Markdown and other documents by https."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.outgoing.addresses import build_page_policy
from copilot_site.lib.outgoing.http import build_pool_manager, find_refusal
from knowledge.sources import base
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    Passing,
    PathReaders,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.files import LEAVE_OUT, PathChoice, build_cache_path, list_markdown_sections
from knowledge.sources.http import Address, check_safe_address
from knowledge.sources.rules import FILE, parse_access_rules

MAX_BYTES = 1_000_000_000  # of what is fetched at once
MAX_COMMITS = 20_000  # searched for the last change of a file
SILENCE_S = 60.0
Repository = Any  # dulwich's, which is loaded where it is used
_REGULAR = {0o100644, 0o100755}


class GitSettings(base.Settings):
    url: Address = build_settings_field(_("address"), _("Like https://host/team/handbook.git."))
    branch: str = build_settings_field(_("branch"), _("Empty: the one that the repository names."), default="")
    below: str = build_settings_field(_("folder in it"), _("Only what lies there, like docs."), default="")
    username: str = build_settings_field(
        _("account"), _("For a token, what its service says; most take any."), default=""
    )
    leave_out: list[str] = build_settings_field(*LEAVE_OUT, default=[])
    page_url: str = build_settings_field(
        _("address of a page"),
        _(
            "Where people read a file, with {path} in it, like https://host/team/handbook/blob/main/{path}; for a wiki "
            "{page}, which has no ending, like https://host/team/handbook/wiki/{page}. Empty: not linked."
        ),
        default="",
    )

    @property
    def address(self) -> str:
        return self.url

    @property
    def is_wiki(self) -> bool:
        """Tell whether it is the wiki of a GitHub, GitLab or Gitea: a repository of pages, beside that of the project."""
        return self.url.rstrip("/").removesuffix(".git").endswith(".wiki")


class GitConnector(base.Connector):
    """The last commit of a branch. Files are known by their paths and change with their content; git tells of renames.

    state: {"head": the commit that was read}.
    """

    label = _("Git repository")
    about = _("Markdown and other documents of one branch: a handbook, or a wiki on GitHub, GitLab or Gitea.")
    noun = _("file in git")
    secret_label = _("Password or token")
    ids_are_paths = True
    takes_rights = True
    wants = GitSettings

    def __init__(self, settings: GitSettings, reading: ConnectorContext) -> None:
        self._settings, self._reading = settings, reading
        self._choice = PathChoice(settings.leave_out, takes_pictures=False)
        self._below = settings.below.strip("/")
        check_safe_address(settings.url, has_secret=bool(reading.secret))
        self._repo, self._head = _fetch_repository(settings, reading)
        self.state = {"head": self._head.decode()}

    def listing(self) -> Iterator[ListedItem | Missed]:
        with self._refuse_missing_objects():
            files = self._list_files(self._head)
            moved = self._find_moved_paths()
            known = self._reading.known
            fresh = {path for path, sha in files.items() if path not in known or known[path].version != sha}
            last = self._find_last_changes(fresh) if fresh else {}
        if self._below and not files:
            raise Unreadable(gettext("There is no folder “%(name)s” in the repository.") % {"name": self._below})
        for path, sha in sorted(files.items()):
            author, at = last.get(path, ("", None))
            was = moved.get(path, "")
            title = _build_page_title(path) if self._settings.is_wiki else ""
            yield ListedItem(
                path, path, sha, title, url=self._build_page_url(path), author=author, modified_at=at, was=was
            )

    def fetch(self, item: ListedItem) -> ItemContent:
        with self._refuse_missing_objects():
            data: bytes = self._repo.object_store[item.version.encode()].as_raw_string()
        return ItemContent(data, sections=list_markdown_sections(item.path, data))

    def rights(self) -> list[PathReaders]:
        """Return the access rules of the folder that is read."""
        from dulwich.object_store import tree_lookup_path

        store = self._repo.object_store
        path = f"{self._below}/{FILE}" if self._below else FILE
        with self._refuse_missing_objects():
            tree = self._repo[self._head].tree
        try:
            mode, sha = tree_lookup_path(store.__getitem__, tree, path.encode())
        except (KeyError, NotADirectoryError):
            return parse_access_rules(None)
        with self._refuse_missing_objects():
            return parse_access_rules(store[sha].as_raw_string() if mode in _REGULAR else None)

    @contextmanager
    def _refuse_missing_objects(self) -> Iterator[None]:
        """Raise Unreadable for an object that is not there."""
        try:
            yield
        except KeyError as error:
            message = gettext(
                "%(path)s is incomplete: it borrows objects from another repository, or was only partly copied."
            )
            raise Unreadable(message % {"path": self._settings.url}) from error

    def close(self) -> None:
        self._repo.close()

    def _list_files(self, head: bytes) -> dict[str, str]:
        """Return {path below `below`: id of its content} of the documents in a commit."""
        from dulwich.object_store import iter_tree_contents

        found = {}
        entries: Any = iter_tree_contents(self._repo.object_store, self._repo[head].tree)
        for entry in entries:
            path = entry.path.decode("utf-8", "replace")
            inside = self._find_relative_path(path)
            is_page = not self._settings.is_wiki or not PurePosixPath(inside).name.startswith("_")  # sidebar, footer
            if entry.mode in _REGULAR and inside and is_page and self._choice.takes(inside):
                found[inside] = entry.sha.decode()
        return found

    def _find_relative_path(self, path: str) -> str:
        """Return the path below `below`; "" for other paths."""
        if not self._below:
            return path
        return path.removeprefix(f"{self._below}/") if path.startswith(f"{self._below}/") else ""

    def _find_moved_paths(self) -> dict[str, str]:
        """Return {new path: old path} since the commit read last, if that is still available."""
        from dulwich.diff_tree import CHANGE_RENAME, RenameDetector, tree_changes

        before = str(self._reading.state.get("head", "")).encode()
        if not before or before == self._head or before not in self._repo.object_store:
            return {}
        store = self._repo.object_store
        trees = self._repo[before].tree, self._repo[self._head].tree
        changes: Any = tree_changes(store, *trees, rename_detector=RenameDetector(store))
        return {
            self._find_relative_path(change.new.path.decode("utf-8", "replace")): self._find_relative_path(
                change.old.path.decode("utf-8", "replace")
            )
            for change in changes
            if change.type == CHANGE_RENAME
        }

    def _find_last_changes(self, wanted: set[str]) -> dict[str, tuple[str, datetime]]:
        """Return {path: (author, time)} of the last commit that changed it, within MAX_COMMITS."""
        found: dict[str, tuple[str, datetime]] = {}
        for entry in islice(self._repo.get_walker(include=[self._head]), MAX_COMMITS):
            author = entry.commit.author.decode("utf-8", "replace").partition(" <")[0]
            at = datetime.fromtimestamp(entry.commit.commit_time, UTC)
            for change in entry.changes():
                for element in change if isinstance(change, list) else [change]:  # a merge has one list for each file
                    if element.new is not None and element.new.path:
                        path = self._find_relative_path(element.new.path.decode("utf-8", "replace"))
                        if path in wanted:
                            found.setdefault(path, (author, at))
            if len(found) == len(wanted):
                break
        return found

    def _build_page_url(self, path: str) -> str:
        whole = f"{self._below}/{path}" if self._below else path
        page = whole.removesuffix(PurePosixPath(whole).suffix)
        return str(self._settings.page_url).replace("{path}", quote(whole)).replace("{page}", quote(page))


def _build_page_title(path: str) -> str:
    """Return a page's title: Deploy-Rules.md → Deploy Rules. Gitea escapes characters and marks real dashes: a-b.-.md → a-b."""
    stem = PurePosixPath(path).stem
    return unquote(stem.removesuffix(".-") if stem.endswith(".-") else stem.replace("-", " "))


def _fetch_repository(settings: GitSettings, reading: ConnectorContext) -> tuple[Repository, bytes]:
    """Return the repository, with new objects fetched, and the commit to read."""
    from dulwich.client import HttpGitClient, HTTPUnauthorized
    from dulwich.errors import GitProtocolError, NotGitRepository

    repo = _open_cache(build_cache_path(reading.cache))
    account: dict[str, Any] = (
        {"username": settings.username or "token", "password": reading.secret} if reading.secret else {}
    )  # sent to the origin of the address alone
    client = HttpGitClient(
        settings.url,
        pool_manager=build_pool_manager(build_page_policy()),
        timeout=SILENCE_S,
        thin_packs=False,
        **account,
    )
    reading.pace()
    try:
        listed: Any = client.get_refs(b"")
        head = _find_branch_commit(listed.refs, listed.symrefs, settings.branch)
        if head not in repo.object_store:
            _fetch_commit(client, repo, head)
    except (NotGitRepository, ValueError) as error:  # of another kind of server, what dulwich cannot read
        message = gettext("%(url)s is not a git repository, or this account cannot see it.")
        raise Unreadable(message % {"url": settings.url}) from error
    except HTTPUnauthorized as error:
        raise Unreadable(gettext("%(url)s needs another account or token.") % {"url": settings.url}) from error
    except (GitProtocolError, OSError) as error:
        refusal = find_refusal(error)
        if refusal is not None:
            raise refusal from error
        raise Passing(gettext("%(url)s does not answer as git does.") % {"url": settings.url}) from error
    return repo, head


def _fetch_commit(client: Any, repo: Repository, head: bytes) -> None:
    """Fetch one commit with its objects. Raises Unreadable for more than MAX_BYTES."""
    file, commit, abort = repo.object_store.add_pack()
    size = 0

    def write(data: bytes) -> int:
        nonlocal size
        size += len(data)
        if size > MAX_BYTES:
            raise Unreadable(gettext("The repository has more than %(most)s MB.") % {"most": MAX_BYTES // 1_000_000})
        return int(file.write(data))

    try:
        client.fetch_pack(b"", lambda refs, depth=None: [head], repo.get_graph_walker(), write)
    except BaseException:
        abort()
        raise
    commit()
    repo.refs[b"refs/heads/read"] = head  # not fetched again next time


def _find_branch_commit(refs: Mapping[bytes, Any], symrefs: Mapping[bytes, bytes], branch: str) -> bytes:
    """Return the commit of the branch, or of HEAD's branch. Raises Unreadable."""
    name = f"refs/heads/{branch}".encode() if branch else symrefs.get(b"HEAD", b"HEAD")
    found = refs.get(name) or (None if branch else refs.get(b"HEAD"))
    if not found:
        raise Unreadable(gettext("The repository has no branch “%(name)s”.") % {"name": branch or "HEAD"})
    return bytes(found)


def _open_cache(folder: Path) -> Repository:
    from dulwich.repo import Repo

    if not (folder / "HEAD").exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Repo.init_bare(str(folder))
    return Repo(str(folder))


base.connectors.add("git", GitConnector)
