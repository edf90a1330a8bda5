"""Give a data source its semantic layer from a YAML file; print that layer, or what its database needs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from business.mysql import setup as mysql_setup
from business.sandbox.setup import build_source_setup_sql
from business.semantic_layer.yaml_io import read_layer, write_yaml
from business.sources.checks import build_unchecked_message, find_source, record_failures
from business.sources.services import save_layer
from copilot_site.lib.commands import read_text_file, report_command_errors


class Command(BaseCommand):
    help = "Import or export a semantic layer, or print the SQL that a source's database needs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        importing = actions.add_parser("import", help="store the layer of a YAML file")
        importing.add_argument("file", type=Path)
        exporting = actions.add_parser("export", help="print the layer as YAML")
        exporting.add_argument("name")
        setup = actions.add_parser("setup", help="print what the administrator of a database runs there once, SQL")
        setup.add_argument("--account", required=True, help="the role of the data source; it exists already")
        setup.add_argument("--database", required=True)
        setup.add_argument("--schema", action="append", help="a schema it may read; default: public; may be repeated")
        mysql = actions.add_parser(
            "setup-mysql", help="print what the administrator of a MySQL or MariaDB runs there, SQL"
        )
        mysql.add_argument("--account", required=True, help="USER or USER@HOST of the data source; it exists already")
        mysql.add_argument("--database", required=True, help="where the tables are")
        mysql.add_argument(
            "--views", required=True, help="database that is made for their views, which the account sees alone"
        )
        mysql.add_argument(
            "--table", action="append", required=True, help="a table, or `employee(id, name)`; may be repeated"
        )
        setup.add_argument(
            "--only-business-data",
            action="store_true",
            help="take system catalogs and functions from everybody else: for “holds only business data”",
        )

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            if options["action"] == "export":
                self.stdout.write(write_yaml(find_source(options["name"]).semantic_layer))
                return
            if options["action"] == "setup":
                schemas = options["schema"] or ["public"]
                dedicated = options["only_business_data"]
                self.stdout.write(
                    build_source_setup_sql(
                        options["account"], options["database"], schemas, only_business_data=dedicated
                    )
                )
                return
            if options["action"] == "setup-mysql":
                self.stdout.write(
                    mysql_setup(options["account"], options["database"], options["views"], options["table"])
                )
                return
            path = options["file"]
            text = read_text_file(path)
            with record_failures(None, path.name):
                layer = read_layer(text)
                if not save_layer(None, find_source(layer.name), layer):
                    self.stderr.write(build_unchecked_message())
        self.stdout.write(f"{layer.name}: {len(layer.semantic_models)} tables")
