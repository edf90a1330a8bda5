from django.urls import path

from agent.mcp_client import views

urlpatterns = [
    path("admin/mcp-services/callback/", views.callback, name="mcp-callback"),
    path("admin/mcp-services/<int:service_id>/connect/", views.connect, name="mcp-connect"),
    path("admin/mcp-services/<int:service_id>/disconnect/", views.disconnect, name="mcp-disconnect"),
]
