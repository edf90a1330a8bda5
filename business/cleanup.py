"""Keeping the databases tidy: sandboxes stand as long as somebody has the rights they were made for."""

from collections import defaultdict
from dataclasses import dataclass

from django.contrib.auth.models import User

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from business.address import Address
from business.execute import Access
from business.models import DataSource, Engine
from business.postgres_session import SourceUnavailable
from business.sandbox.sql_views import name_of
from business.sandbox.sweep import sweep
from business.sources import open_sources
from copilot_site.lib.errors import InvalidInput


@dataclass(frozen=True)
class Swept:
    """removed: sandboxes and roles taken down. unreached: names of sources that did not answer, with why."""

    removed: int
    unreached: tuple[str, ...]


def sweep_sandboxes() -> Swept:
    """Take down every sandbox, in the database of every source, that no active person's rights of today lead to."""
    living = living_sandboxes()
    removed, unreached, done = 0, [], set[Address]()
    for source in DataSource.unscoped.filter(document=None, engine=Engine.POSTGRESQL):
        try:
            address = source.address
            if address in done:
                continue
            done.add(address)
            gone = sweep(address, living[address])
        except (SourceUnavailable, InvalidInput) as error:
            unreached.append(f"{source.name}: {error}")
            continue
        removed += gone
        if gone:
            record(None, Action.SANDBOXES_REMOVED, source, detail={"walls": gone})
    return Swept(removed, tuple(unreached))


def living_sandboxes() -> defaultdict[Address, set[str]]:
    """The names of the sandboxes that somebody could ask through now, for each database."""
    names: defaultdict[Address, set[str]] = defaultdict(set)
    for user in User.objects.filter(is_active=True).iterator():
        for opened in open_sources(Principal.of(user)):
            if isinstance(opened.access, Access):
                names[opened.access.admin].add(name_of(opened.access.admin, opened.access.policy))
    return names
