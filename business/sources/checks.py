"""Check whether a data source can be asked: its server, account, tables, and a trial sandbox."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import psycopg
from django.utils.translation import gettext as _
from psycopg import sql

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal
from business.connections.account_faults import AccountFault, find_account_faults
from business.connections.identity import SourceRefused
from business.connections.postgres_session import connect_to_source
from business.models import DataSource, SourceEngine
from business.mysql import find_faults as mysql_faults
from business.sandbox.setup import build_hardening_warning, is_hardened
from business.sandbox.sql_views import try_sandbox
from business.semantic_layer.model import SemanticModel
from business.table_faults import find_table_faults
from copilot_site.lib.errors import CopilotError, NotFound


def list_all_sources() -> list[DataSource]:
    """Return every database, for the operator's doctor; it reads no row of them."""
    return list(DataSource.unscoped.filter(document=None))


def embedded_databases() -> set[str]:
    """Return the names of databases made for embedded sources; works on the tables of an older version, too."""
    return set(DataSource.unscoped.filter(document=None, is_embedded=True).values_list("database", flat=True))


def find_source(name: str) -> DataSource:
    """Return a source, for the operator's commands. Raises NotFound."""
    source = DataSource.unscoped.filter(name=name).first()
    if source is None:
        raise NotFound(f"There is no data source {name}.")
    return source


def build_unchecked_message() -> str:
    """Return the sentence for whoever saved a layer while its database did not answer."""
    return _("The database did not respond, so these tables were not checked. Check the connection.")


def check_source(source: DataSource) -> list[AccountFault]:
    """Return a source's faults with their fixes: account, tables, and a trial sandbox.

    Raises SourceUnavailable where its server does not answer, SourceRefused where it is the product's own, InvalidInput where it
    has no address or no readable layer, SandboxRefused where the trial fails.
    """
    try:
        return _collect_faults(source)
    except psycopg.Error as error:
        why = error.diag.message_primary or type(error).__name__
        raise SourceRefused(_("The database refuses the query: %(why)s.") % {"why": why}) from error


def build_missing_indexes(source: DataSource) -> list[str]:
    """Return statements for indexes that its large tables lack, for the owner; of PostgreSQL alone. Raises
    SourceUnavailable, SourceRefused.
    """
    if source.engine != SourceEngine.POSTGRESQL:
        return []
    with connect_to_source(source.address) as connection:
        return list(missing_indexes(connection, source.semantic_layer.semantic_models))


def _collect_faults(source: DataSource) -> list[AccountFault]:
    address, models = source.address, source.semantic_layer.semantic_models
    if source.engine == SourceEngine.MYSQL:
        return list(mysql_faults(address, [model.table for model in models]))
    with connect_to_source(address) as connection:
        faults = [] if address.is_own else find_account_faults(connection, source.schemas)
        if source.is_dedicated and not address.is_own and not is_hardened(connection):
            faults.append(build_hardening_warning(address))
        if not faults or address.is_own:
            tables = [model.place for model in models]
            faults += find_table_faults(connection, tables)
    if not faults:
        try_sandbox(address)
    return faults


@contextmanager
def record_failures(by: Principal | None, name: str) -> Iterator[None]:
    """Record what keeps a source from being described; name: of the source, or of the file that was to describe one."""
    try:
        yield
    except CopilotError as error:
        record_action(by, Action.SETTING_CHANGED, outcome=Outcome.ERROR, reason=type(error).__name__, target_name=name)
        raise


LARGE = 100_000  # rows, as the planner knows them; a smaller table is read in milliseconds
_LED = """
SELECT c.reltuples, array(
    SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL),
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'm')
"""


def missing_indexes(connection: psycopg.Connection, models: Iterable[SemanticModel]) -> Iterator[str]:
    """Yield a CREATE INDEX statement for each missing index, for the owner to run; views and partitioned tables are skipped."""
    for model in models:
        row = connection.execute(_LED, model.place).fetchone()
        rows, led, columns = row or (0, [], [])
        if rows < LARGE:
            continue
        for column in dict.fromkeys(_iterate_filter_columns(model)):
            if column in columns and column not in led:
                table = sql.Identifier(*model.place)
                yield sql.SQL("CREATE INDEX ON {} ({});").format(table, sql.Identifier(column)).as_string(connection)


def _iterate_filter_columns(model: SemanticModel) -> Iterator[str]:
    yield from (entity.expr for entity in model.entities)
    yield from (dimension.expr for dimension in model.dimensions if dimension.type == "time")
    if model.org_unit and model.org_unit.column:
        yield model.org_unit.column
