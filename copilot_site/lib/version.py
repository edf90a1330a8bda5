"""The version of the product, from pyproject.toml, its one place."""

import tomllib
from pathlib import Path

VERSION: str = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]
AGENT = f"EnterpriseKnowledgeCopilot/{VERSION}"
"""Name for other servers: User-Agent of webhooks, sources and pages of the web."""
