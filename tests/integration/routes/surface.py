"""tests/golden/surface.md: every door of the product, what it takes in and who gets what there, read from the code and from routes.txt."""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from django import forms
from django.contrib import admin
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandParser
from django.urls import URLPattern, URLResolver, get_resolver

from agent.pages.consumers import Ask, Continue, StopMessage
from tests.goldens import FOLDER
from tests.integration.routes.addresses import Route
from tests.integration.routes.table import rows, written

OURS = ("agent", "audit", "authz", "business", "copilot_site", "demo", "evals", "knowledge")
SENT = re.compile(r"""(?:POST|FILES|GET|data)(?:\.get(?:list)?\(|\[)\s*["'](\w+)["']""")
HEAD = """# Every door

Written by `REWRITE_GOLDEN=1 pytest tests/integration/routes`; a new address, command, socket or task without its line fails the
tests. What each person gets is what the tests got: each address is called as everybody in turn (`tests/integration/routes`), and for
each that names a row with the ids of one that is there, of one that is hidden and of one that is not: bodies, headers and statements
of the last two are the same.

Who: `anon` not signed in · `none` without any grant · `else` every right in another base · `view` `down` `add` `change` `manage`
`all` with that right on the folder · `staff` may enter the administration, no grant · `audit` auditor · `root` superuser, no grant ·
`dead` a disabled account with the session and token of before.
"""


def page() -> str:
    """The whole file."""
    return "\n".join([HEAD, *_addresses(), *_admin_forms(), *_commands(), *_others()]) + "\n"


def _addresses() -> Iterator[str]:
    bodies, views = _api_bodies(), dict(_views(get_resolver().url_patterns, ""))
    table = [(route, got) for route, got in rows().items() if not _is_of_a_model(route)]
    sections: dict[str, Callable[[str], bool]] = {
        "Pages": lambda path: not path.startswith(("api/", "admin/")),
        "Administration": lambda path: path.startswith("admin/"),
        "API": lambda path: path.startswith("api/"),
    }
    for title, belongs in sections.items():
        yield f"\n## {title}\n\n| address | takes in | who gets what |\n|---|---|---|"
        for route, got in table:
            if belongs(route.path):
                taken = bodies.get(route) or _sent(views.get(route.path)) if route.method != "get" else []
                yield f"| `{route.method.upper()} /{route.path}` | {_names([*route.names, *taken])} | {_who(got)} |"


def _is_of_a_model(route: Route) -> bool:
    """Whether an address is one of those that Django's admin has for each model."""
    parts = route.path.split("/")
    return parts[0] == "admin" and (parts[1], *parts[2:3]) in {
        (model._meta.app_label, str(model._meta.model_name)) for model in admin.site._registry
    }


def _who(got: Mapping[str, int]) -> str:
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for role, status in got.items():
        by_status[status].append(role)
    return " · ".join(f"**{status}** {' '.join(roles)}" for status, roles in sorted(by_status.items()))


def _names(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "nothing"


def _api_bodies() -> dict[Route, list[str]]:
    """The fields of each body that the API's description names."""
    schema: dict[str, Any] = yaml.safe_load((FOLDER / "openapi.yaml").read_text(encoding="utf-8"))
    found = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            fields = [name for kind in content.values() for name in _fields(kind.get("schema", {}), schema)]
            found[Route(method, re.sub(r"{(\w+)}", r"<\1>", path).removeprefix("/"))] = fields
    return found


def _fields(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in part:
        yield from _fields(schema["components"]["schemas"][part["$ref"].rpartition("/")[2]], schema)
    for item in part.get("allOf", ()):
        yield from _fields(item, schema)
    yield from part.get("properties", {})


def _views(patterns: Sequence[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = prefix + re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield path, pattern.callback


def _sent(view: Any) -> list[str]:
    """What a page's code reads from a form: the fields of the forms that it names, and what it looks up itself."""
    if view is None:
        return []
    target = inspect.unwrap(getattr(view, "view_class", view))
    source = inspect.getsource(target)
    module = vars(inspect.getmodule(target))
    named = [module.get(name) for name in dict.fromkeys(re.findall(r"\b[A-Z]\w*Form\b", source))]
    fields = [
        name
        for form in named
        if inspect.isclass(form) and issubclass(form, forms.BaseForm)
        for name in getattr(form, "base_fields", ())
    ]
    return [*fields, *SENT.findall(source)]


def _admin_forms() -> Iterator[str]:
    """One line for each model; what is written there is its form's, less what is only shown."""
    yield "\n## Forms of the administration\n\n| model | form | list | one row | add | delete |\n|---|---|---|---|---|---|"
    table = rows()
    for model, options in sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label_lower):
        base = f"admin/{model._meta.app_label}/{model._meta.model_name}/"
        shown = {str(name) for name in options.readonly_fields}
        fields = [
            name for name in getattr(options.form, "base_fields", {}) or _plain_fields(model) if name not in shown
        ]
        cells = [
            _who(table[Route("get", base + end)]) for end in ("", "<object_id>/change/", "add/", "<object_id>/delete/")
        ]
        yield f"| `{model._meta.label}` | {_names(fields)} | {' | '.join(cells)} |"


def _plain_fields(model: Any) -> list[str]:
    return [field.name for field in model._meta.fields if field.editable and not field.primary_key]


def _commands() -> Iterator[str]:
    """Commands are the operator's: whoever may start a program on the server may run them all."""
    yield "\n## Commands\n\nThe operator of the host runs them; `--as` names whose rights count.\n\n| command | takes in |\n|---|---|"
    for name, app in sorted(get_commands().items()):
        if app in OURS and _is_ours(app, name):
            parser = CommandParser(add_help=False)
            load_command_class(str(app), name).add_arguments(parser)
            taken = [(action.option_strings or [action.dest])[0] for action in parser._actions]
            yield f"| `manage.py {name}` | {_names(taken)} |"


def _is_ours(app: str, name: str) -> bool:
    return (Path(__file__).parents[3] / app.replace(".", "/") / "management" / "commands" / f"{name}.py").exists()


def _others() -> Iterator[str]:
    yield "\n## Sockets and tasks\n\n| door | takes in | who gets what |\n|---|---|---|"
    forms_of_socket = _names([name for form in (Ask, Continue, StopMessage) for name in form.model_fields])
    for kind, lines in groupby(
        (line.split(maxsplit=2) for line in written().splitlines() if line.startswith(("SOCKET", "TASK"))),
        lambda one: one[0],
    ):
        for _kind, name, rest in lines:
            if kind == "SOCKET":
                yield f"| `{name}` | {forms_of_socket} | {' '.join(rest.split())} |"
            else:
                who, _, taken = rest.partition("; ")
                yield f"| task `{name}` | {taken} | {who} |"
