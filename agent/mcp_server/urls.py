from django.urls import path

from agent.mcp_server.oauth import metadata
from agent.mcp_server.views import McpServer

urlpatterns = [
    path("mcp", McpServer.as_view(), name="mcp"),
    path(".well-known/oauth-protected-resource", metadata),  # the only place where some clients look
    path(".well-known/oauth-protected-resource/mcp", metadata, name="mcp-metadata"),
]
