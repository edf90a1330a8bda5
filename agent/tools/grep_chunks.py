"""Find exact words, codes and numbers."""

import re
from typing import Annotated
from uuid import UUID

from pydantic import Field

from agent.evidence.fencing import fence_evidence
from agent.evidence.items import make_passage_finding
from agent.run_state.state import State
from agent.run_state.threads import run_cpu_bound_call
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, add_tool, restrict_scope
from knowledge.selectors import ShownPassage
from knowledge.tool_selectors import PATTERN_LENGTH, grep_passages

TIMEOUT_MS = 2_000  # of the statement; a plain word takes milliseconds
Pattern = Annotated[str, Field(min_length=1, max_length=PATTERN_LENGTH)]


class GrepArgs(ToolArgs):
    patterns: list[Pattern] = Field(
        min_length=1,
        max_length=5,
        description="Words or regular expressions (PostgreSQL, case ignored); any may match.",
    )
    knowledge_ids: list[UUID] = Field(default_factory=list, max_length=20, description="Only in these documents.")
    max_results: int = Field(default=20, ge=1, le=50, description="Passages to return.")


class GrepChunks(Tool):
    """Find passages with an exact word, name, error code, version or number, or that match a regular expression. Returns <evidence>."""

    name = "grep_chunks"
    label = ToolText("Search by keywords", "关键词搜索")
    description = ToolText(
        "Finds the passages that contain exact words or match a pattern.", "快速定位包含特定关键词的文档和分块"
    )
    Args = GrepArgs
    node = State.RETRIEVE

    async def run(self, ctx: ToolContext, args: GrepArgs) -> ToolOutput:
        scope = restrict_scope(ctx.scope, document_ids=args.knowledge_ids)
        matches = await run_cpu_bound_call(
            grep_passages, ctx.principal, args.patterns, scope=scope, limit=args.max_results, timeout_ms=TIMEOUT_MS
        )
        findings = [make_passage_finding(passage) for passage in matches.passages]
        head = (
            f"{len(findings)} passages match{'; there are more, so make the pattern narrower' if matches.more else ''}."
        )
        if not findings:
            head = "No passage that this person may read matches. Try other words, or knowledge_search."
        return ToolOutput(
            "\n".join([head, *(fence_evidence(finding.item) for finding in findings)]),
            {
                "display_type": "grep_results",
                "patterns": args.patterns,
                "count": len(findings),
                "has_more": matches.more,
                "results": [_build_shown_passage(passage, args.patterns) for passage in matches.passages],
            },
            findings=findings,
        )


def _build_shown_passage(passage: ShownPassage, patterns: list[str]) -> dict[str, object]:
    return {
        "knowledge_id": str(passage.document_id),
        "knowledge_title": passage.title,
        "chunk_id": str(passage.chunk_id),
        "chunk_index": passage.position,
        "content": passage.text,
        "matched_patterns": [
            word for word in patterns if re.escape(word) == word and word.lower() in passage.text.lower()
        ],
    }


add_tool(GrepChunks())
