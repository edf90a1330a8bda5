"""Answer a chat message: identify the sender and the other readers, ask the question, and format the answer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import structlog
from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from agent import texts
from agent.chat_platforms.feishu import FeishuCalls, FeishuLink, FeishuReply, PlatformError, TooLarge
from agent.chat_platforms.messages import MAX_ATTEMPTS, claim_message, close_message, renew_claim, update_message
from agent.chat_platforms.setting_up import build_bot_account
from agent.connections.service_keys import KeyLost
from agent.conversations.sessions import create_session, get_message, get_session, list_sessions
from agent.models import ChatMessage, Message, Session
from agent.profiles.settings import Options
from agent.run_state.run import Run
from agent.run_state.threads import run_front_call, run_web_call
from agent.runs.follow import replay_entries
from agent.runs.run import complete_run
from agent.runs.start import find_answer_id, start_run
from agent.text_answer import TextAnswer
from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal
from authz.sign_in.addresses import find_accounts_by_address, fold_address
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.retrieval.search import Scope
from knowledge.text.language import detect_language

log = structlog.get_logger(__name__)

RENEWED_S = 20  # a third of a lease
NEW = "/new"


class NotHere(Exception):
    """The message cannot be answered; the text is the whole reply and says why."""


async def answer_message(pk: UUID) -> None:
    """Answer a message that is not claimed yet. A failed attempt is repeated, up to the limit."""
    row = await run_front_call(claim_message, pk)
    if row is None:
        return
    problem = ""
    async with _hold_claim(row):
        try:
            with override("zh-hans" if detect_language(row.text or "") == "zh" else "en"):
                await _send_answer(row)
        except (PlatformError, KeyLost) as error:
            log.warning("chat_platform.failed", message=str(pk), error=str(error))
            problem = str(error)
        except Exception as error:
            log.exception("chat_platform.lost", message=str(pk))
            problem = type(error).__name__
    if not problem or row.attempts >= MAX_ATTEMPTS:
        await run_front_call(close_message, row, problem)
    else:
        await run_front_call(update_message, row, {"problem": problem[:300]})


@asynccontextmanager
async def _hold_claim(row: ChatMessage) -> AsyncIterator[None]:
    async def renewed() -> None:
        while True:
            await asyncio.sleep(RENEWED_S)
            await run_front_call(renew_claim, row.pk)

    task = asyncio.create_task(renewed())
    try:
        yield
    finally:
        task.cancel()


async def _send_answer(row: ChatMessage) -> None:
    calls = FeishuCalls(await run_front_call(build_bot_account, row.bot))
    try:
        reply = await _build_reply(row, calls)
    except NotHere as refusal:
        reply = FeishuReply(str(refusal))
    except CopilotError as error:  # too many questions at once, or one that is none
        reply = FeishuReply(str(error))
    await run_web_call(calls.reply, row.message_id, reply, key=str(row.pk))


async def _build_reply(row: ChatMessage, calls: FeishuCalls) -> FeishuReply:
    """Return the bot's reply. Raises NotHere, PlatformError, and the errors of `start_run`."""
    person = await _find_sender(row, calls)
    if row.text is None:
        raise NotHere(_("I read text only: write your question."))
    if row.text.strip().lower() == NEW:
        await run_front_call(update_message, row, {"user": person, "begins_anew": True})
        return FeishuReply(_("A new conversation begins with your next question."))
    principal = await run_front_call(Principal.of, person)
    members = await _fetch_group_members(row, calls) if row.is_group else frozenset()
    if members:
        principal = await _restrict_to_members(principal, row, calls, members)
    run_id, session_id = await _ask_and_wait(principal, row)
    if members and not await _fetch_group_members(row, calls) <= members:
        raise NotHere(_("Someone joined this group while I was answering. Ask again."))
    site = row.bot.site
    return await run_front_call(build_stored_reply, principal, session_id, run_id, site=site, is_group=row.is_group)


async def _find_sender(row: ChatMessage, calls: FeishuCalls) -> User:
    mails = {} if row.is_outside else await run_web_call(calls.mails_of, [row.sender_id])
    person = (await run_front_call(find_accounts_by_mail, mails)).get(row.sender_id)
    if person is None:
        await run_front_call(_record_refusal, None, row, "unknown sender")
        whom = row.bot.whom_to_ask or _("your administrator")
        raise NotHere(_("I do not know you: no account here has your mail address. Ask %(whom)s.") % {"whom": whom})
    return person


async def _fetch_group_members(row: ChatMessage, calls: FeishuCalls) -> frozenset[str]:
    """Return all members of the group, the sender included."""
    try:
        return await run_web_call(calls.members_of, row.chat_id) | {row.sender_id}
    except PlatformError as error:
        log.warning("chat_platform.members_unknown", message=str(row.pk), error=str(error))
        why = "too many members" if isinstance(error, TooLarge) else "members unknown"
        await run_front_call(_record_refusal, None, row, why)
        raise NotHere(_("I cannot tell who is in this group, so I do not answer here. Ask me directly.")) from error


async def _restrict_to_members(
    principal: Principal, row: ChatMessage, calls: FeishuCalls, members: frozenset[str]
) -> Principal:
    """Return the sender, restricted to the rights of all members. Raises NotHere where a member has no account here."""
    people = await run_front_call(find_accounts_by_mail, await run_web_call(calls.mails_of, members))
    try:
        if people.keys() >= members:
            return await run_front_call(principal.before, [person.pk for person in people.values()])
    except NotFound:  # disabled a moment ago
        pass
    await run_front_call(_record_refusal, principal, row, "unknown members")
    raise NotHere(_("Not everyone in this group has an account here, so I do not answer here. Ask me directly."))


async def _ask_and_wait(principal: Principal, row: ChatMessage) -> tuple[UUID, UUID]:
    """Ask the question, wait for the end, and return the answer and its conversation.

    A question asked in an earlier attempt is not repeated.
    """
    assert row.text is not None
    if row.session_id and (known := await run_front_call(find_answer_id, principal, row.session_id, row.pk)):
        if not await run_front_call(is_answer_finished, known):
            raise PlatformError(
                "the first attempt is still at it"
            )  # or its process died a moment ago, and it is closed soon
        return known, row.session_id
    session, follows = await run_front_call(find_chat_conversation, principal, row)
    await run_front_call(update_message, row, {"user_id": principal.user_id, "session": session})
    channel = f"{row.bot.platform}:{'group' if row.is_group else 'direct'}"
    options = Options(disable_title=row.is_group, asked_as=row.pk, follows=follows, channel=channel)
    language = "zh-hans" if detect_language(row.text) == "zh" else "en"
    run = await start_run(principal, session.pk, row.text, scope=Scope(), language=language, options=options)
    await complete_run(run)
    await run_front_call(update_message, row, {"answer_id": run.message_id})
    return run.message_id, session.pk


def _record_refusal(principal: Principal | None, row: ChatMessage, why: str) -> None:
    detail: Mapping[str, object] = {"channel": row.bot.platform, "group": row.is_group}
    record_action(principal, Action.ACCESS_DENIED, row.bot, outcome=Outcome.DENY, reason=why, detail=detail)


def find_accounts_by_mail(mails: Mapping[str, str]) -> dict[str, User]:
    """Return the active account for each id, where exactly one account has its address. mails: by id.

    An address shared by two accounts belongs to neither, even if one of them is disabled.
    """
    found = find_accounts_by_address(mails.values(), User.objects.filter(service_account=None))
    alone = {address: user for address, user in found.items() if user.is_active}
    return {pk: alone[fold_address(mail)] for pk, mail in mails.items() if fold_address(mail) in alone}


GOES_ON = timedelta(days=1)  # after the last question a new conversation begins


def find_chat_conversation(principal: Principal, row: ChatMessage) -> tuple[Session, UUID | None]:
    """Return the person's conversation in this chat and the answer that the message follows.

    After a day begin a new one. In a group the message follows the last one there, whatever its sender asked elsewhere
    in the same conversation.
    """
    earlier = ChatMessage.objects.filter(
        Q(answer_id__isnull=False) | Q(begins_anew=True),
        bot_id=row.bot_id, chat_id=row.chat_id, user_id=principal.user_id, received_at__gt=timezone.now() - GOES_ON,
    ).exclude(pk=row.pk)  # fmt: skip
    last = earlier.order_by("-received_at").first()
    if last is not None and last.answer_id:
        session = list_sessions(principal).filter(messages=last.answer_id).first()
        if session is not None:
            return session, last.answer_id if row.is_group else None
    return create_session(principal), None


def is_answer_finished(answer_id: UUID) -> bool:
    return Message.objects.filter(pk=answer_id, is_complete=True).exists()


_RULE = re.compile(r"^\|( --- \|)+\n", re.MULTILINE)  # below the head of a Markdown table: a reply is plain text


def build_stored_reply(
    principal: Principal, session_id: UUID, message_id: UUID, *, site: str, is_group: bool
) -> FeishuReply:
    """Return the stored answer as a reply, under today's rights.

    Raises NotFound where the person or the answer is gone. is_group: the reply has no link to the conversation, which
    only its owner can open.
    """
    run = Run(session_id, message_id, principal, question="", scope=Scope(), language=get_language() or "en")
    answer = TextAnswer(run, site)
    for entry in replay_entries(principal, session_id, message_id):
        answer.took(json.loads(entry.body))
    if answer.error:
        return FeishuReply(answer.error)
    shown = get_message(principal, get_session(principal, session_id), message_id)
    lost = (
        [str(texts.LEFT_OUT_BY_RIGHTS if answer.text.strip() else texts.RIGHTS_CHANGED)] if shown.masked_count else []
    )
    choices = [f"· {choice}" for choice in answer.choices]
    parts = [_RULE.sub("", answer.text).strip(), "\n".join(choices), "\n".join([*answer.notices, *lost])]
    links = [FeishuLink(f"[{number}]", answer.title_of(number), answer.url_of(number)) for number in answer.cited]
    if not is_group:
        links.append(FeishuLink("", _("Open in the chat"), site + reverse("conversation", args=[session_id])))
    return FeishuReply("\n\n".join(part for part in parts if part), tuple(links))
