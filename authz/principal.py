"""The principal: the person who makes a request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import connection

from authz.models import ApiToken
from copilot_site.lib.database import open_prepared_cursor
from copilot_site.lib.errors import NotFound

# One row for each group of an active person, units above theirs included, or one row without a group; with the token,
# if valid. A run reads this before each event it sends: with querysets it would cost ten times the database's time.
_READ = """
WITH own AS MATERIALIZED (SELECT m.group_id FROM auth_user_groups m WHERE m.user_id = %(user)s)
SELECT u.id, u.username, u.is_superuser, g.id, r.name, o.name, t.id, t.scopes, t.folder_id, md5(u.password)
FROM auth_user u
LEFT JOIN auth_group g ON g.id IN (
    SELECT group_id FROM own
    UNION SELECT up.ancestor_id FROM authz_orgunitlink up WHERE up.descendant_id IN (SELECT group_id FROM own)
)
LEFT JOIN authz_role r ON r.group_id = g.id
LEFT JOIN authz_orgunit o ON o.group_id = g.id
LEFT JOIN authz_apitoken t ON t.id = %(token)s::bigint AND t.user_id = u.id
    AND t.revoked_at IS NULL AND t.expires_at > statement_timestamp()
WHERE u.id = %(user)s AND u.is_active AND (%(session)s::text IS NULL OR EXISTS (
    SELECT 1 FROM django_session s WHERE s.session_key = %(session)s AND s.expire_date > statement_timestamp()
))"""
# The groups that several people have in common, units above theirs included; and how many of the people are active.
_COMMON = """
WITH person AS MATERIALIZED (SELECT u.id FROM auth_user u WHERE u.id = ANY(%(users)s) AND u.is_active
), own AS MATERIALIZED (SELECT m.user_id, m.group_id FROM auth_user_groups m WHERE m.user_id IN (SELECT id FROM person)
), held AS (
    SELECT user_id, group_id FROM own
    UNION SELECT o.user_id, up.ancestor_id FROM own o JOIN authz_orgunitlink up ON up.descendant_id = o.group_id
)
SELECT (SELECT count(*) FROM person), ARRAY(
    SELECT group_id FROM held GROUP BY group_id HAVING count(*) = (SELECT count(*) FROM person)
)"""
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Principal:
    """A person as the database has them now; read it anew for every request and every tool call.

    An inactive or anonymous person is nobody: user id 0, which no row has, and no groups.

    group_ids, roles, org_units: their groups and the roles and units these carry, units above included; for the
    record, and for rules that concern no row. Rights are read from the database by the statement that needs them.
    scopes, folder_id: the limits of an API token; None without one, as for a person at a page.
    conversation_id: the conversation that they are in; its files are readable only there.
    session_key: the sign-in that must last while they read a stream, else `again` raises. None for no stream.
    seal: the session's hash of the password; a changed password ends the sign-in, as Django ends the session.
    audience: ids of the other readers; with any, only what all of them may reach is reached, the groups are those in
    common, and nobody governs (ADR 0030).
    """

    user_id: int
    username: str
    group_ids: frozenset[int]
    is_superuser: bool = False
    roles: frozenset[str] = frozenset()
    org_units: frozenset[str] = frozenset()
    scopes: frozenset[str] | None = None
    folder_id: UUID | None = None
    token_id: int | None = None
    conversation_id: UUID | None = None
    session_key: str | None = field(default=None, repr=False)
    seal: str = field(default="", repr=False, compare=False)
    audience: frozenset[int] = frozenset()

    @property
    def is_nobody(self) -> bool:
        return self.user_id == 0

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser | None) -> Self:
        """Return the principal of a Django user; nobody for an inactive or anonymous one."""
        if not isinstance(user, User) or not user.is_active:
            return cls.nobody()
        return cls._build_from_rows(_read_person_rows(user.pk)) or cls.nobody()

    def signed_in(self, session_key: str | None) -> Self:
        """Return the same person, valid only while this sign-in lasts."""
        return replace(self, session_key=session_key)

    def in_conversation(self, conversation_id: UUID | None) -> Self:
        """Return the same person in a conversation; those of others stay closed (`authz.rights.folders`)."""
        return replace(self, conversation_id=conversation_id)

    def narrowed(self, *, scopes: frozenset[str], folder_id: UUID | None) -> Self:
        """Return the same person limited by a token. Raises ValueError when they are limited already."""
        if self.scopes is not None:
            raise ValueError("a principal is narrowed once")
        return replace(self, scopes=scopes, folder_id=folder_id)

    def may_use(self, scope: str) -> bool:
        """Tell whether the token, if any, has this scope."""
        return self.scopes is None or scope in self.scopes

    def through(self, token: ApiToken) -> Self:
        """Return the same person limited by this token. A token for a folder does not govern."""
        return self._narrow_to_token(token.pk, frozenset(token.scopes), token.folder_id)

    def before(self, user_ids: Iterable[int]) -> Self:
        """Return the same person with these others as audience. Raises NotFound when one is gone or disabled."""
        return replace(self, audience=frozenset(user_ids) - {self.user_id}).again()

    def again(self) -> Self:
        """Reload the person with groups, token, sign-in and audience. Raises NotFound when one is gone or disabled."""
        rows = _read_person_rows(self.user_id, self.token_id, self.session_key)
        if self.audience:
            common = _find_common_groups([self.user_id, *self.audience])
            rows = [row if row[3] in common else (*row[:3], None, None, None, *row[6:]) for row in rows]
        fresh = self._build_from_rows(rows)
        if fresh is None:
            raise NotFound(f"there is no active user {self.user_id}")
        fresh = fresh.in_conversation(self.conversation_id)
        if self.audience:
            fresh = replace(fresh, audience=self.audience, is_superuser=False)
        if self.session_key is not None and fresh.seal != self.seal:
            raise NotFound(f"the password of user {self.user_id} was changed")
        if self.token_id is None:
            here = fresh.signed_in(self.session_key)
            return here if self.scopes is None else here.narrowed(scopes=self.scopes, folder_id=self.folder_id)
        token_id, scopes, folder_id = rows[0][6:9]
        if token_id is None:
            raise NotFound(f"there is no live token {self.token_id}")
        return fresh._narrow_to_token(token_id, frozenset(scopes), folder_id)

    @classmethod
    def load(cls, user_id: int) -> Self:
        """Load a person by id, with their current groups; raise NotFound when they are gone."""
        return cls(user_id, "", frozenset()).again()

    @classmethod
    def named(cls, username: str) -> Self:
        """Return the person with this sign-in name; raise NotFound, naming it."""
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise NotFound(f"There is no active user {username!r}: name an account that may sign in.")
        return cls.of(user)

    @classmethod
    def nobody(cls) -> Self:
        return cls(0, "", frozenset())

    def _narrow_to_token(self, token_id: int, scopes: frozenset[str], folder_id: UUID | None) -> Self:
        narrow = self.narrowed(scopes=scopes, folder_id=folder_id)
        return replace(narrow, token_id=token_id, is_superuser=self.is_superuser and folder_id is None)

    @classmethod
    def _build_from_rows(cls, rows: Rows) -> Self | None:
        """Return the person from rows of `_read_person_rows`; None for no rows."""
        if not rows:
            return None
        user_id, username, is_superuser = rows[0][:3]
        return cls(
            user_id,
            username,
            frozenset(row[3] for row in rows if row[3] is not None),
            is_superuser,
            roles=frozenset(row[4] for row in rows if row[4]),
            org_units=frozenset(row[5] for row in rows if row[5]),
            seal=rows[0][9],
        )


def _find_common_groups(user_ids: Sequence[int]) -> set[int]:
    """Return the groups they have in common. Raises NotFound when one is gone or disabled."""
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(_COMMON, {"users": list(user_ids)})
        count, groups = cursor.fetchone()
    if count != len(user_ids):
        raise NotFound("somebody who reads along is no active user any more")
    return set(groups)


def _read_person_rows(user_id: int, token_id: int | None = None, session_key: str | None = None) -> Rows:
    """Return an active person, one row for each group (see _READ); no rows where there is no such person."""
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(_READ, {"user": user_id, "token": token_id, "session": session_key})
        return list(cursor.fetchall())
