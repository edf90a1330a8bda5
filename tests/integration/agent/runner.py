"""A process that answers one question: `python -m tests.integration.agent.runner USER_ID SESSION_ID QUESTION`.

It prints the id of the answer, then the type of each event as its log has it.
"""

import asyncio
import os
import sys
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")


async def answer(user_id: int, session_id: UUID, question: str) -> None:
    from agent.profiles.settings import Options
    from agent.run_state.threads import run_front_call
    from agent.runs.follow import follow_run
    from agent.runs.run import complete_run, launch_run
    from agent.runs.start import prepare_run
    from authz.principal import Principal
    from knowledge.retrieval.search import Scope

    principal = await run_front_call(Principal.load, user_id)
    run = await run_front_call(
        prepare_run, principal, session_id, question, scope=Scope(), language="en", options=Options()
    )
    print(launch_run(run), flush=True)
    try:
        async for entry in follow_run(principal, session_id=session_id, message_id=run.message_id):
            if entry is not None:
                print(entry.type, flush=True)
    finally:
        await complete_run(run)  # as a server, which lives on where its reader is gone


if __name__ == "__main__":
    django.setup()
    asyncio.run(answer(int(sys.argv[1]), UUID(sys.argv[2]), sys.argv[3]))
