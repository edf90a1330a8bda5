"""Models, limits and places of the product itself."""

from typing import Any

from copilot_site.settings.base import HOME, config

EMBEDDER = config.embedder
EMBEDDER_OPTIONS: dict[str, Any] = {
    "model": config.embedder_model or "",
    "base_url": config.embedder_base_url or "",
    "api_key": config.embedder_api_key.get_secret_value() if config.embedder_api_key else "",
    "cache_dir": HOME.models,
    "threads": config.embed_threads,
    "release_after": config.embed_release_s,
}
RERANKER = config.reranker
RERANKER_MODEL = config.reranker_model or ""
LLM: dict[str, Any] = {
    "base_url": config.llm_base_url or "",
    "model": config.llm_model or "",
    "api_key": config.llm_api_key.get_secret_value() if config.llm_api_key else "",
    "context_tokens": config.llm_context_tokens,
    "price_input": config.llm_price_input,
    "price_output": config.llm_price_output,
    "run_cost": config.llm_run_cost,
    "day_cost": config.llm_day_cost,
    "keys_secret": config.llm_keys_secret.get_secret_value() if config.llm_keys_secret else "",
}
OTLP_ENDPOINT = config.otlp_endpoint or ""
OTLP_HEADERS = config.otlp_headers.get_secret_value() if config.otlp_headers else ""
MCP_COMMANDS = str(config.mcp_commands or "")  # a command is never entered in the admin
CHUNK_TOKENS, CHUNK_MAX_TOKENS = config.chunk_tokens, config.chunk_max_tokens
DEMO_WIKI = HOME.root / "demo-wiki"  # a folder of pages that the demo company brings
SOURCE_FOLDERS = (*filter(None, config.source_folders.split(",")), str(DEMO_WIKI))
SOURCE_CACHE = HOME.root / "sources"  # copies of git repositories; lost, they are fetched again
UPLOAD_MAX_BYTES, ATTACHMENT_DAYS = config.upload_max_mb * 1_000_000, config.attachment_days
AUDIT_KEYS = config.audit_keys or HOME.root / "audit-keys"
AUDIT_CHECKPOINTS = config.audit_checkpoints or HOME.root / "audit-checkpoints"
RUNS_AT_ONCE, MODEL_RUNS_AT_ONCE = config.runs_at_once, config.model_runs_at_once
RUNS_PER_PERSON, RUNS_PER_PROGRAM = config.runs_per_person, config.runs_per_program
RUNS_WAITING = config.runs_waiting
TRANSFERS_PER_PERSON = config.transfers_per_person
WEB_PROCESSES = config.web_processes
SEARCH_EXACT_LIMIT = config.search_exact_limit  # visible chunks
