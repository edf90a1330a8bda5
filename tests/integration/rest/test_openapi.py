"""The description of the API is complete, and changes only when a person has seen the change."""

from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from authz.rest.views import PrincipalView
from tests.goldens import assert_golden


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `manage.py spectacular` writes; a warning fails."""
    path = tmp_path_factory.mktemp("openapi") / "openapi.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", file=str(path))
    return path.read_text(encoding="utf-8")


def test_the_description_is_the_one_that_was_agreed_on(description: str) -> None:
    assert_golden("openapi.yaml", description)


def test_every_operation_has_a_summary_of_its_own_and_names_its_errors_as_problem_documents(description: str) -> None:
    described = yaml.safe_load(description)
    paths, components = described["paths"], described["components"]
    operations: list[dict[str, Any]] = [operation for methods in paths.values() for operation in methods.values()]
    summaries = [operation.get("summary", "") for operation in operations]
    assert all(summaries)
    assert len(set(summaries)) == len(summaries)
    assert PrincipalView.__doc__
    said = PrincipalView.__doc__.splitlines()[0]
    assert not any(said in operation.get("description", "") for operation in operations), "written for ourselves"
    for operation in operations:
        errors = {code: answer for code, answer in operation["responses"].items() if int(code) >= 400}
        assert "401" in errors
        for code, answer in errors.items():
            assert answer == {"$ref": f"#/components/responses/Problem{code}"}, "written once"
            assert list(components["responses"][f"Problem{code}"]["content"]) == ["application/problem+json"]


@pytest.mark.django_db
def test_the_description_is_served_and_its_page_obeys_the_content_security_policy() -> None:
    client = Client()
    assert yaml.safe_load(client.get("/api/schema/").content)["info"]["title"] == "Enterprise Knowledge Copilot"
    page = client.get("/api/docs/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert "<style" not in text
    assert "<script>" not in text
    script = client.get("/api/docs/?script=")
    assert (script.status_code, "SwaggerUIBundle(" in script.content.decode()) == (200, True)
