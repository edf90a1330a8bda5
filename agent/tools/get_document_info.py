"""The catalogue card of documents (specification 000)."""

from pathlib import PurePath
from typing import Any, Literal

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.evidence.document_facts import make_facts_finding
from agent.evidence.fencing import escape_document_text, fence_evidence, fence_facts
from agent.run_state.state import State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolOutput, ToolText, add_tool
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import ParseStatus
from knowledge.tool_selectors import CardFacts, load_document_facts

STATUS_SIGNS = {
    ParseStatus.PENDING: "⏳ waiting",
    ParseStatus.PROCESSING: "🔄 in progress",
    ParseStatus.COMPLETED: "✅ ready",
    ParseStatus.FAILED: "❌ failed",
}
NOT_THERE = "there is no such document, or it is not accessible"
FieldName = Literal[
    "title", "type", "file_name", "file_type", "file_size", "language", "parse_status", "progress", "chunk_count",
    "metadata", "error_message",
]  # fmt: skip


class InfoArgs(ToolArgs):
    knowledge_ids: list[str] = Field(min_length=1, max_length=10, description="The documents.")
    fields: list[FieldName] = Field(default_factory=list, description="Only these facts.")


class GetDocumentInfo(Tool):
    """Get facts of documents without their text: title, file, size, fields, whether they can be searched yet, how many passages."""

    name = "get_document_info"
    label = ToolText("Document facts", "获取文档信息")
    description = ToolText(
        "Shows title, type, size, status and number of passages of documents.", "查看文档的元数据与处理状态"
    )
    Args = InfoArgs
    node = State.RETRIEVE

    async def run(self, ctx: ToolContext, args: InfoArgs) -> ToolOutput:
        asked = list(dict.fromkeys(text.strip() for text in args.knowledge_ids))
        facts = await sync_to_async(load_document_facts)(ctx.principal, asked, scope=ctx.scope)
        documents = [
            _select_card_fields(_build_card(text, facts[text]), args.fields) for text in asked if text in facts
        ]
        errors = [{"knowledge_id": text, "error": NOT_THERE} for text in asked if text not in facts]
        shown = [facts[text] for text in asked if text in facts]
        findings = [make_facts_finding(shown, language=ctx.language)] if shown else []
        return ToolOutput(
            "\n".join(
                [_format_output(documents, errors, len(asked)), *(fence_evidence(finding.item) for finding in findings)]
            ),
            {
                "display_type": "document_info",
                "documents": documents,
                "total_docs": len(documents),
                "requested": len(asked),
                "total_chunks": sum(item.chunks for item in shown),
                "errors": errors,
                "title": documents[0].get("title", "") if documents else "",
            },
            success=bool(documents),
            error="" if documents else f"None of the {len(asked)} documents can be shown: {NOT_THERE}.",
            findings=findings,
        )


def _build_card(text: str, facts: CardFacts) -> dict[str, Any]:
    document, newest = facts.document, facts.newest
    return {
        "knowledge_id": text,
        "title": document.title,
        "type": "file",
        "file_name": document.filename,
        "file_type": PurePath(document.filename).suffix.lstrip(".").lower(),
        "file_size": newest.size_bytes,
        "language": document.language,
        "parse_status": newest.parse_status,
        "progress": {"done": facts.done, "total": facts.total},
        "chunk_count": facts.chunks,
        "metadata": {
            "knowledge_base": document.knowledge_base.name,
            "version": newest.number,
            "pages": newest.page_count,
            "uploaded_at": newest.created_at.isoformat(timespec="seconds"),
            **({"fields": document.metadata} if document.metadata else {}),
        },
        "error_message": newest.failure_reason,
    }


def _select_card_fields(card: dict[str, Any], fields: list[FieldName]) -> dict[str, Any]:
    return {name: value for name, value in card.items() if not fields or name in {"knowledge_id", *fields}}


def _format_output(documents: list[dict[str, Any]], errors: list[dict[str, str]], requested: int) -> str:
    lines = [f"Facts of {len(documents)} / {requested} documents:"]
    facts = []
    for card in documents:
        facts.append(f"- {card['knowledge_id']}")
        facts += [
            f"    {name}: {_format_field_value(name, value)}" for name, value in card.items() if name != "knowledge_id"
        ]
    lines += [fence_facts("documents", facts)] if facts else []
    if errors:
        lines += [
            "",
            "=== Not available ===",
            *(
                f"- {escape_document_text(fold_to_one_line(error['knowledge_id']))}: {error['error']}"
                for error in errors
            ),
        ]
    return "\n".join(lines)


def _format_field_value(name: str, value: Any) -> str:
    if name == "parse_status":
        return STATUS_SIGNS[ParseStatus(value)]
    if name == "progress":
        return f"{value['done']} / {value['total'] if value['total'] is not None else '?'} passages"
    if name == "metadata":
        return fold_to_one_line(", ".join(f"{key}={item}" for key, item in value.items() if item is not None))
    return fold_to_one_line(str(value))


add_tool(GetDocumentInfo())
