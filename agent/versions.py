"""What made an answer, for whoever replays it later: it may have been another provider, model or prompt than today's."""

from typing import Any

from django.conf import settings

from agent.state import Run


def made_with(run: Run) -> dict[str, Any]:
    """Names as the settings have them; empty where there is none. prompts: name → hash of the file that was used."""
    return {
        "provider": run.answer.provider if run.answer else "",
        "model": run.model.name if run.model else "",
        "profile": run.profile.name,
        "prompts": dict(run.prompts),
        "embedder": settings.EMBEDDER,
        "embedder_model": settings.EMBEDDER_OPTIONS["model"],
        "reranker": settings.RERANKER,
        "reranker_model": settings.RERANKER_MODEL,
    }
