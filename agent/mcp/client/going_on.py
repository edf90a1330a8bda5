"""What goes on when the person has allowed a call."""

from agent.allowed_call import AllowedCall
from agent.kept_scope import scope_of
from agent.mcp.client.rows import ToolApproval
from agent.model_settings import AgentProfile
from agent.profiles import Options
from agent.runs.start import start
from agent.runs.threads import in_thread
from agent.state import Run
from authz.principal import Principal


async def go_on(principal: Principal, row: ToolApproval) -> Run:
    """Start the run that makes the allowed call first and goes on with the question. Raises what `start` raises."""
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
    return Options(profile_id=str(profile.pk) if profile else "")
