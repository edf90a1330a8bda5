from django.urls import path

from agent.openai_api import views

urlpatterns = [
    path("models", views.Models.as_view(), name="openai-models"),
    path("models/<path:model>", views.OneModel.as_view(), name="openai-model"),
    path("chat/completions", views.ChatCompletions.as_view(), name="openai-chat"),
    path("responses", views.Responses.as_view(), name="openai-responses"),
    path("embeddings", views.Embeddings.as_view(), name="openai-embeddings"),
]
