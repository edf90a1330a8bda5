"""Homes from before sources had kinds: the demo's stays, what led to the product's own server is switched off, nothing is lost."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

AFTER = [
    key
    for key in MigrationLoader(None).disk_migrations
    if key[0] == "business" and key[1].endswith("own_databases_by_kind")
]
BEFORE = MigrationLoader(None).disk_migrations[AFTER[0]].dependencies


@pytest.mark.django_db(transaction=True)
def test_sources_become_of_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    try:
        old: Any = executor.loader.project_state(BEFORE).apps.get_model("business", "DataSource")._base_manager
        own = connection.settings_dict["NAME"]
        layer = {
            "name": "x",
            "semantic_models": [{"name": "a", "schema": "crm"}, {"name": "b", "schema": "pg_catalog"}],
        }
        old.create(name="demo", database=f"{own}_demo_data", is_dedicated=True)
        old.create(name="stolen", database=own, layer=layer)
        old.create(name="remote", host="db.example", database="sales", layer=layer)
        after = MigrationExecutor(connection)
        after.migrate(AFTER)
        then: Any = after.loader.project_state(AFTER).apps.get_model("business", "DataSource")._base_manager
        rows = then.order_by("name").values_list("name", "is_embedded", "is_active", "schemas", "host")
        assert list(rows) == [
            ("demo", True, True, ["public"], ""),
            ("remote", False, True, ["crm", "public"], "db.example"),
            ("stolen", False, False, ["crm", "public"], ""),
        ]
        assert "The data source stolen led to the product's own server and is switched off" in capsys.readouterr().out
        then.all().delete()
    finally:
        last = MigrationExecutor(connection)
        last.migrate(last.loader.graph.leaf_nodes())
