"""Who reads a running answer: as long as their sign-in lasts, and so many of one person at once."""

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as DbSession
from django.test import Client

from agent.runs import follow
from agent.runs.leases import ask_to_stop
from agent.runs.log import Entry
from authz.principal import Principal
from copilot_site.lib.errors import TooMany
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, Handbook, make_reader
from tests.integration.agent.live import Live, lived
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.agent.test_stream import TWO, is_answer
from tests.modelserver import says

pytestmark = pytest.mark.django_db


SIGN_IN_ENDS: dict[str, Callable[[User, str], object]] = {
    "signed out": lambda _user, key: DbSession.objects.filter(pk=key).delete(),
    "another password": lambda user, _key: User.objects.filter(pk=user.pk).update(password=make_password("another")),
    "disabled": lambda user, _key: User.objects.filter(pk=user.pk).update(is_active=False),
}


@pytest.mark.parametrize("how", SIGN_IN_ENDS)
def test_a_reader_of_a_running_answer_gets_nothing_after_their_sign_in_has_ended(handbook: Handbook, how: str) -> None:
    base, _manual, _secret = handbook
    user, browser = make_reader(base), Client()
    browser.force_login(user)
    key = str(browser.session.session_key)
    live = Live(Principal.of(user).signed_in(key), LEAVE)

    async def read_late(live: Live) -> list[Entry]:
        await live.read(until=is_answer)
        await sync_to_async(SIGN_IN_ENDS[how])(user, key)
        late = await live.read()
        await ask_to_stop(live.message_id)
        return late

    with modelled(SEARCH, says(TWO, size=100, hang=1)):
        late = lived(live, read_late)
    assert THIRTY[:10] not in str(late)
    assert late[-1].type == "error"


def test_a_person_reads_so_many_answers_at_once_and_others_theirs(
    handbook: Handbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Principal.of(make_reader(handbook[0]))
    monkeypatch.setattr(follow.READERS, "most", 2)
    live, other = Live(reader, LEAVE), Live(Principal.of(make_user()), LEAVE)

    async def crowd(live: Live) -> None:
        crowd = [follow.follow(reader, session_id=live.session_id, message_id=live.message_id) for _reader in range(2)]
        for entries in crowd:
            await anext(aiter(entries))
        with pytest.raises(TooMany):
            await live.read()
        for entries in crowd:
            await entries.aclose()
        assert follow.READERS.of(reader.user_id) == 0
        assert (await live.read())[-1].is_terminal

    lived(live, crowd)
    assert lived(other, Live.read)[-1].is_terminal
    assert follow.READERS.of(reader.user_id) == 0
