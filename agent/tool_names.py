"""The names of tools: their order in the catalogue, and former names."""

from collections.abc import Mapping

# The order of the catalogue; unregistered tools are skipped. Business data adds `database_query`.
ORDER = (
    "thinking", "todo_write", "grep_chunks", "knowledge_search", "list_knowledge_chunks", "query_knowledge_graph",
    "get_document_info", "database_query", "data_analysis", "data_schema", "web_search", "web_fetch", "execute_skill_script",
    "read_skill", "calculate",
)  # fmt: skip
EXECUTE_SKILL_SCRIPT = "execute_skill_script"  # its answers may offer files
ALIASES: Mapping[str, str] = {
    "rag_retriever": "knowledge_search",
    "search_knowledge": "knowledge_search",
    "sql_tool": "database_query",
    "calculator": "calculate",
}  # former name → current name; former names still work
