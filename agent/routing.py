from django.urls import URLPattern, path

from agent.consumers import ChatConsumer

websocket_urlpatterns: list[URLPattern] = [path("ws/chat/<uuid:session_id>/", ChatConsumer.as_asgi())]
