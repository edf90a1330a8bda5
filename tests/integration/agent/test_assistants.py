"""Assistants that people choose: who may use which, the same at every door, and what the chosen one changes."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.conversations.sessions import create_session
from agent.models import AgentProfile, Message, Session
from agent.profile_choice import find_requested_profile, list_assistants, usable_profiles
from agent.profiles.settings import Options, Tone
from agent.prompting import load_prompt
from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import NotFound
from tests.factories import make_base, make_user
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, sent
from tests.integration.agent.test_consumer import Socket, talked
from tests.integration.governance.world import World, client_of, make_overseer, staff, text_of
from tests.integration.rest.test_streams import events
from tests.integration.rest.world import signed_in
from tests.modelserver import says
from tests.sharing import Share
from tests.tokens import client_with

pytestmark = pytest.mark.django_db
ALL, ENGINEERS, AUDITORS = "Everybody's", "Engineers'", "Auditors'"
MAY_USE = {"anna": {ALL, ENGINEERS}, "ben": {ALL, AUDITORS}, "boss": {ALL}, "root": {ALL}}


@pytest.fixture(scope="module")
def shared_world(share: Share) -> Callable[[], World]:
    return share(make_world)


@pytest.fixture
def world(shared_world: Callable[[], World], db: None) -> World:
    return shared_world()


def make_world() -> World:
    """anna is in a unit below Engineering, ben an auditor; boss manages a base, root governs."""
    world = World()
    groups = {ALL: None, ENGINEERS: world.engineering.group, AUDITORS: world.auditors.group}
    for name, group in groups.items():
        profile = AgentProfile.objects.create(name=name, uses_tools=False)
        if group:
            profile.groups.add(group)
    return world


def people() -> list[User]:
    return [User.objects.get(username=name) for name in MAY_USE]


def models_of(user: User) -> set[str]:
    """What `/v1/models` names, without the default and the embedder."""
    secret = issue_token(Principal.of(user), name="program", scopes=[TokenScope.CHAT])[1]
    names = [row["id"] for row in client_with(secret).get("/v1/models").json()["data"]]
    return set(names[1:-1])


def offered_to(user: User) -> set[str]:
    """What stands in the chooser of their chat page."""
    page = client_of(user).get(reverse("chat")).content.decode()
    return {profile.name for profile in AgentProfile.objects.all() if f'<option value="{profile.pk}"' in page}


def answered_over_api(user: User) -> set[str]:
    """The profiles with which a question is taken."""
    client, taken = signed_in(user), set()
    for profile in AgentProfile.objects.all():
        session = client.post("/api/v1/sessions").json()["id"]
        body = {"query": LEAVE, "agent_id": str(profile.pk)}
        answer = client.post(f"/api/v1/agent-chat/{session}", body, format="json")
        assert answer.status_code in {200, 404}
        if answer.status_code == 200:
            assert events(answer)[-1]["response_type"] == "complete"
            taken.add(profile.name)
    return taken


def test_who_may_use_which_is_the_same_at_every_door(world: World) -> None:
    for user in people():
        may_use = MAY_USE[user.username]
        assert {row.name for row in usable_profiles(Principal.of(user))} == may_use, user
        assert models_of(user) == may_use, user
        assert offered_to(user) == may_use, user
    for user in (world.anna, world.boss):
        assert answered_over_api(user) == MAY_USE[user.username], user
    User.objects.filter(username="anna").update(is_active=False)
    assert not usable_profiles(Principal.of(User.objects.get(username="anna"))).exists()


def test_one_that_is_not_theirs_is_like_one_that_is_not_there(world: World) -> None:
    """Over every door that takes a choice, in the same words but for the id."""
    hidden, missing = str(AgentProfile.objects.get(name=AUDITORS).pk), str(uuid4())
    anna = Principal.of(world.anna)
    said = []
    for profile_id in (hidden, missing):
        with pytest.raises(NotFound) as refused:
            find_requested_profile(anna, Options(profile_id=profile_id))
        said.append(str(refused.value).replace(profile_id, ""))
    assert said[0] == said[1]
    secret = issue_token(anna, name="program", scopes=[TokenScope.CHAT])[1]
    told = []
    for model in (AUDITORS, "Nobody's"):
        body = {"model": model, "messages": [{"role": "user", "content": LEAVE}]}
        answer = client_with(secret).post("/v1/chat/completions", body, format="json")
        assert answer.status_code == 404
        told.append(answer.json()["error"]["message"].replace(model, ""))
    assert told[0] == told[1]
    assert AUDITORS not in told[1]


@pytest.mark.django_db(transaction=True)
def test_a_socket_takes_the_choice_and_refuses_one_that_is_not_theirs() -> None:
    world = make_world()
    session = create_session(Principal.of(world.anna))
    mine, hidden = AgentProfile.objects.get(name=ENGINEERS), AgentProfile.objects.get(name=AUDITORS)

    async def asking(socket: Socket, profile: AgentProfile) -> str:
        await socket.send(f'{{"query": "{LEAVE}", "agent_id": "{profile.pk}"}}')
        while (event := await socket.receive())["response_type"] not in {"complete", "error"}:
            pass
        return str(event["response_type"])

    assert talked(world.anna, session.pk, lambda socket: asking(socket, hidden)) == "error"
    assert not Message.objects.exists()
    assert talked(world.anna, session.pk, lambda socket: asking(socket, mine)) == "complete"
    assert Session.objects.get().profile == mine
    page = client_of(world.anna).get(reverse("conversation", args=[session.pk])).content.decode()
    assert f'<option value="{mine.pk}" selected>' in page


def test_membership_that_is_taken_back_takes_the_assistant_with_the_next_question(world: World) -> None:
    mine = AgentProfile.objects.get(name=ENGINEERS)
    assert find_requested_profile(Principal.of(world.anna), Options(profile_id=str(mine.pk))).name == ENGINEERS
    world.anna.groups.clear()
    with pytest.raises(NotFound):
        find_requested_profile(Principal.of(world.anna), Options(profile_id=str(mine.pk)))


def test_a_default_that_is_not_everybodys_falls_back_to_the_products_own(world: World) -> None:
    """The form refuses it; a row written otherwise gives nobody more."""
    AgentProfile.objects.filter(name=AUDITORS).update(is_default=True)
    assert find_requested_profile(Principal.of(world.anna), Options()).name == ""
    assert find_requested_profile(Principal.of(world.ben), Options()).name == AUDITORS


def test_opening_questions_come_in_the_language_of_the_page() -> None:
    AgentProfile.objects.create(name="HR", questions_en="One?\n\n Two? \n", questions_zh="一？", icon="person")
    person = Principal.of(make_user("nora"))
    assert list_assistants(person, "en")[0].openings == ("One?", "Two?")
    assert list_assistants(person, "zh-hans")[0].openings == ("一？",)
    AgentProfile.objects.update(questions_zh="")
    assert list_assistants(person, "zh-hans")[0].openings == ("One?", "Two?")


def test_a_tone_is_in_the_prompt_of_the_model_that_writes() -> None:
    reader = make_reader(make_library()[0])
    assert all(load_prompt(f"tone_{tone}", language).text for tone in Tone.values for language in ("en", "zh"))
    tone = Tone.values[0]
    profile = AgentProfile.objects.create(name="HR", tone=tone)
    with modelled(SEARCH, says(THIRTY)) as server:
        asked(reader, LEAVE, options=Options(profile_id=str(profile.pk)))
    told = load_prompt(f"tone_{tone}", "en").text
    assert all(told in sent(request) for request in server.requests)
    assert f"tone_{tone}.en" in Message.objects.get(role="assistant").prompts


# --- the form of the administration ---

FORM = {"name": "HR assistant", "icon": "person", "uses_tools": ""}


def tried(user: User, **fields: Any) -> str:
    return text_of(client_of(user).post(reverse("profile-try"), {**FORM, **fields}))


def test_the_default_one_is_for_everybody_and_questions_are_few(world: World) -> None:
    client = client_of(world.root)
    add = reverse("admin:agent_agentprofile_add")
    narrowed = client.post(add, {**FORM, "is_default": "on", "groups": [world.engineering.group.pk]})
    assert "is for everyone" in text_of(narrowed)
    many = client.post(add, {**FORM, "questions_en": "\n".join(f"Question {n}?" for n in range(7))})
    assert "At most 6 questions" in text_of(many)
    assert not AgentProfile.objects.filter(name="HR assistant").exists()


def test_a_trial_answers_as_the_form_says_and_saves_nothing() -> None:
    reader, root = make_reader(make_library()[0]), make_user("root", is_superuser=True)
    said = tried(root, trial_question=LEAVE, trial_person=reader.username)
    assert "30 days" in said
    assert "in none of these groups" not in said
    assert "30 days" not in tried(root, trial_question=LEAVE)  # an administrator reads nothing without a grant
    assert not AgentProfile.objects.exists()
    assert not Message.objects.exists()
    assert Entry.objects.filter(action=Action.ACCESS_PREVIEWED).count() == 2


def test_a_trial_says_who_could_not_choose_it_and_what_is_wrong(world: World) -> None:
    group = [world.engineering.group.pk]
    assert "anna is in none" not in tried(world.root, trial_question=LEAVE, trial_person="anna", groups=group)
    assert "ben is in none" in tried(world.root, trial_question=LEAVE, trial_person="ben", groups=group)
    assert "The question is empty" in tried(world.root, trial_question=" ")
    assert "Name" in tried(world.root, trial_question=LEAVE, name="")
    assert "nobody-here" in tried(world.root, trial_question=LEAVE, trial_person="nobody-here")


def test_only_administrators_try_profiles(world: World) -> None:
    for person, status in ((staff("sam"), 403), (make_overseer(), 403), (world.anna, 302)):
        answer = client_of(person).post(reverse("profile-try"), {**FORM, "trial_question": LEAVE})
        assert answer.status_code == status
    assert not Entry.objects.filter(action=Action.ACCESS_PREVIEWED).exists()


def test_bases_that_somebody_does_not_govern_are_not_offered_to_their_assistants(world: World) -> None:
    """boss may change assistants and manages one base; a base that an assistant has stays with it."""
    hidden, kept = make_base("Board"), make_base("Sales")
    world.boss.user_permissions.add(
        *Permission.objects.filter(codename__in=("change_agentprofile", "view_agentprofile", "add_agentprofile"))
    )
    profile = AgentProfile.objects.get(name=ALL)
    profile.knowledge_bases.add(kept)
    page = reverse("admin:agent_agentprofile_change", args=[profile.pk])

    def offered(user: User, address: str) -> set[str]:
        field = client_of(user).get(address).context["adminform"].form.fields["knowledge_bases"]
        return {base.name for base in field.queryset}

    assert offered(world.boss, page) == {"Handbook", "Sales"}
    assert offered(world.boss, reverse("admin:agent_agentprofile_add")) == {"Handbook"}
    assert offered(world.root, page) == {"Handbook", "Sales", "Board"}
    form = {**FORM, "name": ALL, "knowledge_bases": [str(hidden.pk)]}
    assert client_of(world.boss).post(page, form).status_code == 200
    assert set(profile.knowledge_bases.all()) == {kept}
