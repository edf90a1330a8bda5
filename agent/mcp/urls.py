from django.urls import path

from agent.mcp.server.views import McpServer

urlpatterns = [path("mcp", McpServer.as_view(), name="mcp")]
