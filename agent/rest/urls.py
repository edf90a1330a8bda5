from django.urls import path

from agent.rest import sessions, tools

urlpatterns = [
    path("sessions", sessions.Sessions.as_view(), name="sessions"),
    path("sessions/<uuid:pk>", sessions.SessionDetail.as_view(), name="session"),
    path("sessions/<uuid:pk>/messages", sessions.Messages.as_view(), name="messages"),
    path("agent-tools", tools.AgentTools.as_view(), name="agent-tools"),
    path("tenants/kv/agent-config", tools.TenantAgentConfig.as_view(), name="agent-config"),
]
