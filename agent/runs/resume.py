"""What goes on when the person has allowed a call."""

from uuid import UUID

from agent.mcp_client.approvals import SCOPE
from agent.models import AgentProfile, ToolApproval
from agent.outside import AllowedCall
from agent.profiles import Options
from agent.runs.start import start
from agent.state import Run
from agent.threads import in_thread
from authz.principal import Principal
from knowledge.retrieval.search import Scope


async def go_on(principal: Principal, row: ToolApproval) -> Run:
    """Start the run that makes the allowed call first and goes on with the question. Raises what `start` raises."""
    options = await in_thread(_options, row)
    return await start(
        principal,
        row.message.session_id,
        row.question,
        scope=_scope(row),
        language=row.language,
        options=options,
        allowed_call=AllowedCall(row.pk, row.tool, row.arguments),
    )


def _scope(row: ToolApproval) -> Scope:
    bases, folders, documents = (tuple(map(UUID, row.scope.get(name, ()))) for name in SCOPE)
    return Scope(knowledge_base_ids=bases, folder_ids=folders, document_ids=documents)


def _options(row: ToolApproval) -> Options:
    profile = AgentProfile.objects.filter(name=row.profile).first() if row.profile else None
    return Options(profile_id=str(profile.pk) if profile else "")
