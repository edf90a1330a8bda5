"""Whether a data source can be asked: its server, its account, its tables, and a wall on trial."""

import psycopg
from django.utils.translation import gettext as _

from agent.business.account import Fault, faults_of
from agent.business.identity import SourceRefused
from agent.business.models import DataSource
from agent.business.relations import faults_in
from agent.business.session import connected
from agent.business.wall.hardening import is_hardened, not_hardened
from agent.business.wall.views import rehearse


def all_sources() -> list[DataSource]:
    """Every source, for the operator's doctor; it reads no row of their databases."""
    return list(DataSource.unscoped.all())


def faults_with(source: DataSource) -> list[Fault]:
    """What keeps a source from being asked, with what mends it: account, tables, and a wall built and taken down on trial.

    Raises SourceUnavailable where its server does not answer, SourceRefused where it is the product's own, InvalidInput where it
    has no address or no readable layer, WallRefused where the trial fails.
    """
    try:
        return _faults_with(source)
    except psycopg.Error as error:
        why = error.diag.message_primary or type(error).__name__
        raise SourceRefused(_("The database refuses the query: %(why)s.") % {"why": why}) from error


def _faults_with(source: DataSource) -> list[Fault]:
    address, models = source.address, source.semantic_layer.semantic_models
    with connected(address) as connection:
        faults = [] if address.is_own else faults_of(connection, source.schemas)
        if source.is_dedicated and not address.is_own and not is_hardened(connection):
            faults.append(not_hardened(address))
        if not faults or address.is_own:
            tables = [(model.table_schema, model.table) for model in models]
            faults += faults_in(connection, tables)
    if not faults:
        rehearse(address)
    return faults
