"""Who is asking."""

from dataclasses import dataclass, replace
from typing import Self
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.db.models import Q
from django.utils import timezone

from authz.models import ApiToken, OrgUnitLink
from copilot_site.lib.errors import NotFound


@dataclass(frozen=True)
class Principal:
    """A person as the database knows them at this moment; read it anew for every request and every tool call.

    An inactive or anonymous person is nobody: user id 0, which no row has, and no groups.

    group_ids, roles, org_units: their groups, and what these stand for, the units above their own included; for the record, and
    for rules that hang on no row. Rights are read from the database by the statement that needs them.
    scopes, folder_id: what an API token narrows them to; None where nothing does, as for a person at a page.
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

    @property
    def is_nobody(self) -> bool:
        return self.user_id == 0

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser | None) -> Self:
        """The principal of a Django user; whoever is not an active user is nobody."""
        if not isinstance(user, User) or not user.is_active:
            return cls.nobody()
        own = User.groups.through.objects.filter(user_id=user.pk).values("group_id")
        above = OrgUnitLink.objects.filter(descendant_id__in=own).values("ancestor_id")
        groups = Group.objects.filter(Q(pk__in=own) | Q(pk__in=above))
        rows = list(groups.values_list("pk", "role__name", "org_unit__name"))
        return cls(
            user.pk,
            user.username,
            frozenset(pk for pk, _role, _unit in rows),
            user.is_superuser,
            roles=frozenset(role for _pk, role, _unit in rows if role),
            org_units=frozenset(unit for _pk, _role, unit in rows if unit),
        )

    def narrowed(self, *, scopes: frozenset[str], folder_id: UUID | None) -> Self:
        """The same person through an API token. Raises ValueError when they come through one already."""
        if self.scopes is not None:
            raise ValueError("a principal is narrowed once")
        return replace(self, scopes=scopes, folder_id=folder_id)

    def may_use(self, scope: str) -> bool:
        """Does the token, if there is one, open this scope?"""
        return self.scopes is None or scope in self.scopes

    def through(self, token: ApiToken) -> Self:
        """The same person, coming with this token: less may be done, never more. Nobody governs through one folder."""
        narrow = self.narrowed(scopes=frozenset(token.scopes), folder_id=token.folder_id)
        return replace(narrow, token_id=token.pk, is_superuser=self.is_superuser and token.folder_id is None)

    def again(self) -> Self:
        """The same, read anew: today's groups, the token if there is one. Raises NotFound when either is gone or disabled."""
        fresh = self.load(self.user_id)
        if self.token_id is None:
            return fresh
        token = ApiToken.objects.filter(
            pk=self.token_id, user_id=self.user_id, revoked_at=None, expires_at__gt=timezone.now()
        ).first()
        if token is None:
            raise NotFound(f"there is no live token {self.token_id}")
        return fresh.through(token)

    @classmethod
    def load(cls, user_id: int) -> Self:
        """Read the person again, under today's groups; raises NotFound when they are gone."""
        return cls._of_row(User.objects.filter(pk=user_id).first(), f"user {user_id}")

    @classmethod
    def named(cls, username: str) -> Self:
        """The person with this sign-in name; raises NotFound, naming it."""
        return cls._of_row(User.objects.filter(username=username).first(), f"user {username!r}")

    @classmethod
    def nobody(cls) -> Self:
        return cls(0, "", frozenset())

    @classmethod
    def _of_row(cls, user: User | None, asked: str) -> Self:
        if user is None or not user.is_active:
            raise NotFound(f"there is no active {asked}")
        return cls.of(user)
