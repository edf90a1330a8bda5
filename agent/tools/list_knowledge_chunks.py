"""Read a document passage by passage (specification 001)."""

from typing import Any

from asgiref.sync import sync_to_async
from django.urls import reverse
from pydantic import Field

from agent.evidence.fencing import fence_evidence
from agent.evidence.items import make_passage_finding
from agent.run_state.state import State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolMistake, ToolOutput, ToolText, add_tool
from knowledge.selectors import ShownPassage
from knowledge.tool_selectors import PassagePage, load_passage_page, load_passages_around

LIMIT, MAX = 20, 100
FARTHEST = 10**9  # largest offset: past the end of every document, and within the database's integer range


class ListArgs(ToolArgs):
    """`limit` and `offset` outside their bounds are moved to the nearest one, as the specification has it."""

    knowledge_id: str = Field(default="", description="The document.")
    limit: int = Field(
        default=LIMIT,
        description="Passages to return.",
        json_schema_extra={"minimum": 1, "maximum": MAX},
    )
    offset: int = Field(default=0, description="Begin at this passage, from 0.", json_schema_extra={"minimum": 0})
    chunk_id: str = Field(default="", description="Instead of knowledge_id: a passage.")
    neighbours: int = Field(default=2, ge=0, le=10, description="With chunk_id: passages on each side.")

    def bounded_limit(self) -> int:
        return LIMIT if self.limit <= 0 else min(self.limit, MAX)


class ListKnowledgeChunks(Tool):
    """Read on in a document: its passages in order, a page at a time, or one passage with those around it. Returns <evidence>."""

    name = "list_knowledge_chunks"
    label = ToolText("Read passages", "查看文档分块")
    description = ToolText(
        "Reads a document passage by passage, or what stands around one.", "获取文档的分块内容,可逐页阅读完整文档"
    )
    Args = ListArgs
    node = State.RETRIEVE

    async def run(self, ctx: ToolContext, args: ListArgs) -> ToolOutput:
        page = await sync_to_async(_load_page)(ctx, args)
        findings = [make_passage_finding(passage) for passage in page.passages]
        return ToolOutput(
            "\n".join([_format_page_head(page), *(fence_evidence(finding.item) for finding in findings)]),
            _build_result_data(page, args.bounded_limit()),
            findings=findings,
        )


def _load_page(ctx: ToolContext, args: ListArgs) -> PassagePage:
    if args.chunk_id.strip():
        return load_passages_around(ctx.principal, args.chunk_id.strip(), scope=ctx.scope, reach=args.neighbours)
    if not args.knowledge_id.strip():
        raise ToolMistake("knowledge_id is missing: give the id of a document, from knowledge_id of a search result.")
    return load_passage_page(
        ctx.principal,
        args.knowledge_id.strip(),
        scope=ctx.scope,
        limit=args.bounded_limit(),
        offset=min(max(args.offset, 0), FARTHEST),
    )


def _format_page_head(page: PassagePage) -> str:
    fetched = len(page.passages)
    lines = [f"Document: {page.document.pk}", f"Passages in all: {page.total}"]
    if fetched:
        lines.append(f"Fetched here: {fetched}, from {page.offset} to {page.offset + fetched - 1}")
        left = page.total - page.offset - fetched
        lines.append(
            f"Left after these: {left}; go on with offset={page.offset + fetched}" if left > 0 else "This is the end."
        )
    elif page.total:
        lines.append(f"Fetched here: 0, range: N/A. The offset {page.offset} is past the end.")
    else:
        lines.append("There are no passages: the document may not be ingested yet. See get_document_info.")
    return "\n".join(lines)


def _build_result_data(page: PassagePage, limit: int) -> dict[str, Any]:
    return {
        "display_type": "chunk_list",
        "knowledge_id": str(page.document.pk),
        "knowledge_title": page.document.title,
        "total_chunks": page.total,
        "fetched_chunks": len(page.passages),
        "offset": page.offset,
        "page": page.offset // limit + 1,
        "page_size": limit,
        "chunks": [_build_chunk(page, passage, seq) for seq, passage in enumerate(page.passages, 1)],
    }


def _build_chunk(page: PassagePage, passage: ShownPassage, seq: int) -> dict[str, Any]:
    """Return a passage as JSON. `images`: pictures of its page, for formats that have pages."""
    shown: dict[str, Any] = {
        "seq": seq,
        "chunk_id": str(passage.chunk_id),
        "chunk_index": passage.position,
        "content": passage.text,
        "chunk_type": "text",
        "heading_path": list(passage.heading_path),
        "page": passage.page,
        "images": [],
    }
    if passage.page and passage.filename.lower().endswith(".pdf"):
        url = reverse("page-image", args=[page.document.pk, page.version_number, passage.page])
        shown["images"] = [{"url": url, "caption": f"{passage.title}, p. {passage.page}", "ocr_text": ""}]
    return shown


add_tool(ListKnowledgeChunks())
