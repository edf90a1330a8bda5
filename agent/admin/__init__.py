"""Settings of the agent in the admin, one file a subject. Django imports this at start; each file registers what it holds."""

from agent.admin import chat_bots, language_models, mcp_services, profiles, verified_answers, web_search

__all__ = ["chat_bots", "language_models", "mcp_services", "profiles", "verified_answers", "web_search"]
