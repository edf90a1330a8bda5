"""Names of org units stand in the views of a sandbox as texts, whatever they are and however the database reads texts."""

from dataclasses import replace

import psycopg
import pytest
from asgiref.sync import async_to_sync

from business.execute import Access, Protection, run_sql
from business.guard.policy import Policy
from business.sandbox import sql_views

UNITS = [("a\\", ") OR true --"), ("'", ") OR true --"), ("\\' OR true --",), ("$$", "/*")]


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_no_name_of_a_unit_lets_other_rows_through(access: Access, conforming: str) -> None:
    set_for_all(access, f"SET standard_conforming_strings = {conforming}")
    try:
        for units in UNITS:
            narrowed = tuple(replace(table, units=units) for table in access.policy.tables if table.org_column)
            odd = replace(access, policy=Policy(narrowed))
            answer = async_to_sync(run_sql)(odd, "SELECT count(*) AS n FROM customer", protection=Protection.SANDBOX)
            assert answer.rows is not None
            assert answer.rows.rows == ((0,),), units
    finally:
        set_for_all(access, "RESET standard_conforming_strings")
        sql_views.drop_all(access.admin)


def set_for_all(access: Access, what: str) -> None:
    with psycopg.connect(**access.admin.keywords(), autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL("ALTER DATABASE {} " + what).format(psycopg.sql.Identifier(access.admin.database))
        )
