"""The catalogue of tools is the registry's, with a reason where a tool cannot be used now."""

import re
from typing import Any

import pytest

from agent.connections.service_keys import KeyLost, open_service_key, seal_service_key
from agent.models import AgentProfile, LanguageModel
from agent.providers.base import ModelMisconfigured
from agent.providers.configured import find_served_model
from agent.tool_names import ALIASES
from agent.tools.base import find_tool, list_default_tools, list_tools
from audit.actions import Action
from audit.models import Entry
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.rest.world import World

pytestmark = pytest.mark.django_db
HERE = "http://127.0.0.1:1/v1"


def listed(world: World, role: str = "all", **headers: Any) -> list[dict[str, Any]]:
    answer = world.client(role).get("/api/v1/agent-tools", **headers)
    assert answer.status_code == 200
    rows: list[dict[str, Any]] = answer.json()
    return rows


def test_every_registered_tool_is_listed_with_its_old_names_and_nothing_else(world: World) -> None:
    rows = listed(world)
    assert [row["name"] for row in rows] == [tool.name for tool in list_tools()]
    assert [row["name"] for row in rows if row["is_default"]] == list_default_tools()
    old_names = {old: row["name"] for row in rows for old in row["aliases"]}
    assert old_names == dict(ALIASES)
    assert {old: find_tool(old).name for old in ALIASES} == dict(ALIASES)
    chinese = {row["name"]: row["label"] for row in listed(world, headers={"accept-language": "zh-hans"})}
    assert (chinese["thinking"], find_tool("thinking").label.en) == ("思考", "Think")


def test_a_tool_that_cannot_be_used_now_says_why(world: World) -> None:
    before = {row["name"]: row for row in listed(world)}
    assert not before["data_analysis"]["is_available"]
    assert "spreadsheet" in before["data_analysis"]["reason"]
    sheet = make_document(make_base(), "numbers.csv", "a,b\n1,2\n", ingested=True)
    allow(world.people["all"], sheet.knowledge_base)
    after = {row["name"]: row for row in listed(world)}
    assert after["data_analysis"]["is_available"]
    assert after["data_analysis"]["reason"] == ""
    assert not {row["name"]: row for row in listed(world, "nobody")}["data_analysis"]["is_available"]


def test_the_configuration_is_that_of_the_specification_and_of_the_default_profile(world: World) -> None:
    body = world.client("all").get("/api/v1/tenants/kv/agent-config").json()
    assert body["success"] is True
    assert [row["name"] for row in body["data"]["available_tools"]] == [tool.name for tool in list_tools()]
    assert all({"name", "label", "description"} <= set(row) for row in body["data"]["available_tools"])
    assert body["data"]["allowed_tools"] == list_default_tools()
    AgentProfile.objects.create(name="narrow", allowed_tools=["calculator", "thinking"], most_steps=3, is_default=True)
    LanguageModel.objects.create(name="Big", base_url="http://127.0.0.1:1/v1", model="b")
    data = world.client("all").get("/api/v1/tenants/kv/agent-config").json()["data"]
    assert data["allowed_tools"] == ["thinking", "calculate"]
    assert (data["max_iterations"], data["models"]) == (3, ["Big"])


def test_a_key_is_stored_so_that_the_table_does_not_show_it(settings: Any) -> None:
    stored = seal_service_key("sk-1234", HERE)
    assert "sk-1234" not in stored
    assert open_service_key(stored, HERE) == "sk-1234"
    assert (seal_service_key("", HERE), open_service_key("", HERE)) == ("", "")
    settings.SECRET_KEY = "another key of the site, fifty characters and more of it"
    with pytest.raises(KeyLost):
        open_service_key(stored, HERE)


def test_a_key_opens_for_the_address_that_it_was_stored_for() -> None:
    """Whatever way the address is changed, past the service as well: the key does not go with it."""
    row = LanguageModel.objects.create(
        name="Big", base_url=HERE, model="b", encrypted_key=seal_service_key("sk-1234", HERE)
    )
    found = find_served_model("Big")
    assert found is not None
    assert found.api_key == "sk-1234"
    LanguageModel.objects.filter(pk=row.pk).update(base_url="http://127.0.0.1:2/v1")
    with pytest.raises(ModelMisconfigured, match="enter it again"):
        find_served_model("Big")


def test_the_admin_chooses_tools_from_the_catalogue(world: World, client: Any) -> None:
    """Old names are today's, and nothing chosen means those that are on by default."""
    client.force_login(make_user(is_superuser=True))
    row = AgentProfile.objects.create(name="narrow", allowed_tools=["calculator", "thinking"])
    path = f"/admin/agent/agentprofile/{row.pk}/change/"
    page = client.get(path, headers={"accept-language": "zh-hans"}).content.decode()
    chosen = re.findall(r'name="allowed_tools" value="(\w+)"[^>]*checked', page)
    assert sorted(chosen) == ["calculate", "thinking"]
    assert len(re.findall(r'name="allowed_tools" value="', page)) == len(list_tools())
    assert all(tool.label.zh in page and tool.description.zh in page for tool in list_tools())
    form = {"name": "narrow", "icon": "chat", "allowed_tools": ["grep_chunks", "thinking"], "uses_tools": "on"}
    assert client.post(path, form).status_code == 302
    row.refresh_from_db()
    assert row.allowed_tools == ["grep_chunks", "thinking"]
    assert client.post(path, {"name": "narrow", "icon": "chat"}).status_code == 302
    assert AgentProfile.objects.get(pk=row.pk).allowed_tools is None
    refused = client.post(path, {"name": "narrow", "allowed_tools": ["read_skill"]})
    assert refused.status_code == 200
    assert "read_skill" in refused.content.decode()


def test_one_tool_more_takes_none_of_the_others_away(client: Any) -> None:
    """The form shows what is on; whoever adds the tools of skills to it keeps the search. What is on by default is no choice."""
    client.force_login(make_user(is_superuser=True))
    row = AgentProfile.objects.create(name="plain")
    path = f"/admin/agent/agentprofile/{row.pk}/change/"
    shown = re.findall(r'name="allowed_tools" value="(\w+)"[^>]*checked', client.get(path).content.decode())
    assert shown == list_default_tools()
    form = {"name": "plain", "icon": "chat", "uses_tools": "on"}
    client.post(path, form | {"allowed_tools": shown})
    assert AgentProfile.objects.get(pk=row.pk).allowed_tools is None
    more = "execute_skill_script"
    client.post(path, form | {"allowed_tools": [*shown, more]})
    assert set(AgentProfile.objects.get(pk=row.pk).allowed_tools or ()) == {*shown, more}


def test_the_admin_takes_a_key_never_shows_it_and_forgets_it_with_its_address(world: World, client: Any) -> None:
    client.force_login(make_user(is_superuser=True))
    form = {"name": "Big", "base_url": "https://models.example/v1", "model": "b", "api_key": "sk-1234", "context_tokens": 32_000,
            "price_input": "1", "price_output": "2", "is_enabled": "on"}  # fmt: skip
    assert client.post("/admin/agent/languagemodel/add/", form).status_code == 302
    row = LanguageModel.objects.get(name="Big")
    assert open_service_key(row.encrypted_key, row.base_url) == "sk-1234"
    page = f"/admin/agent/languagemodel/{row.pk}/change/"
    shown = client.get(page).content.decode()
    assert "sk-1234" not in shown
    assert row.encrypted_key not in shown
    client.post(page, {**form, "api_key": "", "model": "c"})
    row.refresh_from_db()
    assert (row.model, open_service_key(row.encrypted_key, row.base_url)) == ("c", "sk-1234")

    moved = client.post(page, {**form, "api_key": "", "base_url": "https://evil.example/v1"}, follow=True)
    assert "The stored key was for the old address and has been removed" in moved.content.decode()
    row.refresh_from_db()
    assert row.encrypted_key == ""
    entries = Entry.objects.filter(action=Action.AGENT_CHANGED)
    detail = entries.latest("pk").detail
    assert (detail["address_before"], detail["address"]) == ("https://models.example/v1", "https://evil.example/v1")
    assert "sk-1234" not in str(list(entries.values_list("detail", flat=True)))
    client.post(page, {**form, "api_key": "sk-5678", "base_url": "https://third.example/v1"})
    row.refresh_from_db()
    assert open_service_key(row.encrypted_key, "https://third.example/v1") == "sk-5678"
    for refused in ("http://169.254.169.254/v1", "http://8.8.8.8/v1", "http://user:pw@10.0.0.1/v1", "http://127.1/v1"):
        assert client.post(page, {**form, "base_url": refused}).status_code == 200, refused
    row.refresh_from_db()
    assert row.base_url == "https://third.example/v1"
