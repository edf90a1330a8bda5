"""The shop as the tests of the explore page describe it, and how they read a page."""

import html
import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from tests.integration.governance.world import client_of

LAYER = """
name: shop
time_zone: Asia/Shanghai
semantic_models:
- name: customer
  table: customer
  label: {en: customer, zh: 客户}
  org_unit: {column: org_unit}
  entities: [{name: customer, type: primary, expr: id}, {name: region, type: foreign, expr: region_code}]
  defaults: {agg_time_dimension: since}
  forbidden_columns: [api_token]
  dimensions:
  - {name: name, expr: name, is_name: true, label: {en: customer name}, values: [{value: Customer 1}, {value: Customer 2}]}
  - {name: segment, expr: segment, label: {en: segment, zh: 规模}, values: [{value: small, synonyms: [小]}, {value: large}]}
  - {name: unit, expr: org_unit, label: {en: unit}, values: [{value: North}, {value: South}]}
  - {name: since, type: time, expr: since, label: {en: since}}
- name: region
  table: region
  label: {en: region, zh: 地区}
  org_unit: {shared_with: everyone}
  entities: [{name: region, type: primary, expr: code}]
  dimensions: [{name: label, expr: label, is_name: true, label: {en: region name}, values: [{value: East}, {value: West}]}]
- name: sale
  table: sale
  label: {en: sale, zh: 销售}
  org_unit: {column: org_unit}
  entities: [{name: sale, type: primary, expr: id}, {name: customer, type: foreign, expr: customer_id}]
  defaults: {agg_time_dimension: sold_at}
  dimensions:
  - {name: amount, type: number, expr: amount, label: {en: sale amount}, unit: CNY}
  - {name: is_paid, type: boolean, expr: is_paid, label: {en: paid}}
  - {name: sold_at, type: time, expr: sold_at, label: {en: sold}}
  measures:
  - {name: revenue, agg: sum, expr: amount, label: {en: revenue, zh: 销售额}, unit: CNY, description: {en: All sales., zh: 全部销售。}}
"""


def page(user: User, address: str, *, status: int = 200, language: str = "en") -> str:
    answer = client_of(user).get(address, headers={"accept-language": language})
    assert answer.status_code == status, answer.content.decode()[-3000:]
    return html.unescape(answer.content.decode().replace(answer["X-Request-ID"], "the number of the request"))


def options(text: str, name: str) -> set[str]:
    """The values of a select, without the empty one."""
    select = re.search(rf'<select id="{name}".*?</select>', text, re.DOTALL)
    return set(re.findall(r'<option value="([^"]+)"', select[0])) if select else set()


def ticked(text: str, name: str) -> dict[str, bool]:
    """The boxes of a name, and whether each is ticked."""
    found = re.findall(rf'<input type="checkbox" name="{name}" value="(.*?)"( checked)?><span>', text)
    return {value: bool(checked) for value, checked in found}


def rows(text: str) -> list[list[str]]:
    found = re.findall(r"<tr>(<td.*?)</tr>", text)
    return [re.findall(r'data-value="([^"]*)"', row) for row in found]


def sentence(text: str) -> str:
    """The headline of the result."""
    (told,) = re.findall(r'<h2 class="explore-headline"[^>]*>(.*?)</h2>', text)
    return str(told)


def names_in(text: str) -> set[str]:
    """Which of the shop's words a page tells."""
    words = (
        "customer",
        "segment",
        "small",
        "region",
        "East",
        "Customer 1",
        "Customer 2",
        "South",
        "North",
        "revenue",
        "shop",
    )
    return {word for word in words if re.search(rf"\b{word}\b", text)}


def listed(user: User) -> set[str]:
    """The names in the list of saved questions."""
    return set(re.findall(r'<li>(?:<a href="/data/saved/[^>]*>|<span>)(.*?)\s*<', page(user, "/data/?source=shop")))


def save(client: Client, name: str, fields: str) -> Any:
    answer = client.post("/data/save/", {"source": "shop", "fields": fields, "name": name})
    assert answer.status_code == 302
    return answer
