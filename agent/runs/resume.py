"""What goes on when the person has allowed a call."""

from agent.kept_scope import scope_of, tables_of
from agent.models import AgentProfile, ToolApproval
from agent.outside import AllowedCall
from agent.profiles import Options
from agent.run import Run
from agent.runs.start import start
from agent.threads import in_thread
from authz.principal import Principal


async def go_on(principal: Principal, row: ToolApproval) -> Run:
    """Start the run that makes the allowed call first and goes on with the question, after the answer that asked: on its branch.

    Raises what `start` raises.
    """
    options = await in_thread(_options, row)
    return await start(
        principal,
        row.message.session_id,
        row.question,
        scope=scope_of(row.scope),
        language=row.language,
        options=options,
        allowed_call=AllowedCall(row.pk, row.tool, row.arguments),
    )


def _options(row: ToolApproval) -> Options:
    profile = AgentProfile.objects.filter(name=row.profile).first() if row.profile else None
    return Options(profile_id=str(profile.pk) if profile else "", follows=row.message_id, tables=tables_of(row.scope))
