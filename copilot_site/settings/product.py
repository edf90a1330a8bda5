"""Models, limits and places of the product itself."""

import os
from decimal import Decimal
from typing import Any

from copilot_site.settings.base import HOME, config

EMBEDDER = config.embedder
EMBEDDER_OPTIONS: dict[str, Any] = {
    "model": config.embedder_model or "",
    "base_url": config.embedder_base_url or "",
    "api_key": config.embedder_api_key.get_secret_value() if config.embedder_api_key else "",
    "cache_dir": HOME.models,
    "threads": os.cpu_count() or 1,  # a worker shares them among its processes (copilot_site/celery.py)
    "release_after": None,
}
RERANKER = config.reranker
RERANKER_MODEL = config.reranker_model or ""
LLM: dict[str, Any] = {
    "base_url": config.llm_base_url or "",
    "model": config.llm_model or "",
    "api_key": config.llm_api_key.get_secret_value() if config.llm_api_key else "",
    "context_tokens": 32_000,  # most models take as many; models of the administration have a field for it
    "price_input": Decimal(0),  # models of the administration have fields for prices
    "price_output": Decimal(0),
    "day_cost": config.llm_day_cost,
}
OTLP_ENDPOINT = config.otlp_endpoint or ""
OTLP_HEADERS = config.otlp_headers.get_secret_value() if config.otlp_headers else ""
MCP_COMMANDS = str(config.mcp_commands or "")  # a command is never entered in the admin
CHUNK_TOKENS = (
    270  # of a usual passage: smaller ones are found more sharply, larger ones say more; a base may choose another size
)
CHUNK_MAX_TOKENS = 480  # of the largest passage: the bundled embedder reads 512
DEMO_WIKI = HOME.root / "demo-wiki"  # a folder of pages that the demo company brings
SOURCE_FOLDERS = (*filter(None, config.source_folders.split(",")), str(DEMO_WIKI))
SOURCE_CACHE = HOME.root / "sources"  # copies of git repositories; lost, they are fetched again
UPLOAD_MAX_BYTES, ATTACHMENT_DAYS = config.upload_max_mb * 1_000_000, config.attachment_days
AUDIT_KEYS = config.audit_keys or HOME.root / "audit-keys"
AUDIT_CHECKPOINTS = config.audit_checkpoints or HOME.root / "audit-checkpoints"
MODEL_RUNS_AT_ONCE = config.model_runs_at_once
WEB_PROCESSES = config.web_processes
SEARCH_EXACT_LIMIT = (
    25_000  # visible passages: an exact pass over as many is fast enough (docs/adr/0007-retrieval-plan.md)
)
