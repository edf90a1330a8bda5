from django.urls import path

from agent.chat_platforms.admin import try_bot
from agent.chat_platforms.views import receive

urlpatterns = [
    path("hooks/chat/<uuid:bot_id>", receive, name="chat-bot-events"),
    path("admin/chat-bots/try/", try_bot, name="chat-bot-try"),
]
