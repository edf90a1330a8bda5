from django.urls import path

from agent.web.admin import try_search

urlpatterns = [path("admin/web-searches/try/", try_search, name="web-search-try")]
