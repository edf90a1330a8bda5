"""What made an answer, for whoever looks at it later: it may have been another provider, model or prompt than today's."""

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


def spent_by(run: Run) -> dict[str, Any]:
    """What the run has used. cost: in the currency of the model's prices, as text. stopped_by: the limit it came to, "" for none."""
    spent = run.spent
    return {
        "steps": spent.steps,
        "tool_calls": spent.tool_calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": str(spent.cost),
        "stopped_by": spent.stopped_by or "",
    }


def stage_scores(run: Run) -> dict[str, dict[str, float]]:
    """How each passage that may still be read came to its place: evidence id → score by stage of the search."""
    return {
        evidence_id: {
            stage: round(score, 4)
            for stage in ("dense", "lexical", "fused", "rerank")
            if (score := getattr(finding.scores, stage)) is not None
        }
        for evidence_id, finding in run.findings.items()
        if finding.scores is not None
    }
