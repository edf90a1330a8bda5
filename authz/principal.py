"""Who is asking."""

from dataclasses import dataclass
from typing import Self

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

from copilot_site.lib.errors import NotFound


@dataclass(frozen=True)
class Principal:
    """A person as the database knows them at this moment; read it anew for every request and every tool call.

    An inactive or anonymous person is nobody: user id 0, which no row has, and no groups.
    """

    user_id: int
    username: str
    group_ids: frozenset[int]
    is_superuser: bool = False

    @property
    def is_nobody(self) -> bool:
        return self.user_id == 0

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser | None) -> Self:
        """The principal of a Django user; whoever is not an active user is nobody."""
        if not isinstance(user, User) or not user.is_active:
            return cls.nobody()
        groups = frozenset(user.groups.values_list("pk", flat=True))
        return cls(user.pk, user.username, groups, user.is_superuser)

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
