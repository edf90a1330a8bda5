"""The demo company's business database on the product's own server, with its meaning and who may ask it."""

from collections.abc import Iterable
from pathlib import Path

import psycopg
from django.contrib.auth.models import Group
from psycopg import sql

from authz.permissions import Right
from business.connections.address import Address
from business.introspect import fill_values
from business.models import DataSource
from business.semantic_layer.yaml_io import read_layer
from business.sources.grants import grant
from business.sources.services import save_layer
from demo.company import BilingualText

FILES = Path(__file__).parent / "business"
SUFFIX = "_demo_data"  # appended to the product's database name
ASKERS = ("sales-product", "engineering", "hr", "department-heads")
OWNERS = ("product", "department-heads")  # they define the data's meaning and may correct answers
QUESTIONS = {
    "sales-product": BilingualText(zh="上个月新增了多少客户？", en="How many customers did we win last month?"),
    "engineering": BilingualText(zh="正在使用的环境有多少个？", en="How many environments are in use?"),
    "hr": BilingualText(zh="今年入职了多少员工？", en="How many employees were hired this year?"),
}  # about rows of the group's own org unit: elsewhere the answer is 0


def find_business_database() -> Address:
    """Return the address of the demo's business data."""
    server = Address.of_django()
    return server.at(f"{server.database}{SUFFIX}")


def load_business_data() -> Address:
    """Make the database anew. The product's account must be allowed to make databases."""
    address = find_business_database()
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as connection:
        name = sql.Identifier(address.database)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(name))
    with psycopg.connect(**address.keywords()) as connection:
        connection.execute("SET search_path = public")
        connection.execute((FILES / "demo.sql").read_text())
    return address


def describe_business_data(address: Address) -> DataSource:
    """Create the data source of this database with its layer; nobody may ask it yet."""
    source = DataSource.unscoped.create(name="demo", database=address.database, is_dedicated=True, is_embedded=True)
    save_layer(None, source, fill_values(address, read_layer((FILES / "demo.yaml").read_text())))
    return source


def grant_asking(source: DataSource, groups: Iterable[Group]) -> None:
    """Let each of these ask the whole source and see the rows of its own units."""
    for group in groups:
        grant(None, source, to=group)


def grant_correcting(source: DataSource, groups: Iterable[Group]) -> None:
    """Let each of these manage the source: define its words and correct answers."""
    for group in groups:
        grant(None, source, to=group, right=Right.MANAGE)
