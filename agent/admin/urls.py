from django.urls import path

from agent.admin import mcp_views, profile_views, skill_views, trials
from agent.oversight import gap_views, impersonation_views, rating_views, replay_views
from agent.question_sets import views as evaluation_views

urlpatterns = [
    path("admin/see-as/", impersonation_views.choose, name="see-as-choose"),
    path("admin/see-as/<int:user_id>/", impersonation_views.see_as, name="see-as"),
    path("admin/answers/", replay_views.answer_list, name="answers"),
    path("admin/answers/<uuid:message_id>/", replay_views.replay_answer, name="replay"),
    path("admin/ratings/", rating_views.rating_list, name="ratings"),
    path("admin/language-models/try/", trials.try_model, name="model-try"),
    path("admin/agent-profiles/try/", profile_views.try_profile, name="profile-try"),
    path("admin/evaluations/", evaluation_views.set_list, name="evaluations"),
    path("admin/evaluations/<uuid:set_id>/", evaluation_views.set_page, name="evaluation"),
    path("admin/evaluations/<uuid:set_id>/runs/", evaluation_views.run_page, name="evaluation-runs"),
    path("admin/answers/<uuid:message_id>/evaluate/", evaluation_views.take_answer, name="evaluate-answer"),
    path("admin/skills/", skill_views.skill_list, name="skills"),
    path("admin/skills/<uuid:skill_id>/", skill_views.skill_page, name="skill"),
    path("admin/web-searches/try/", trials.try_search, name="web-search-try"),
    path("admin/chat-bots/try/", trials.try_bot, name="chat-bot-try"),
    path("admin/mcp-services/callback/", mcp_views.callback, name="mcp-callback"),
    path("admin/mcp-services/<int:service_id>/connect/", mcp_views.connect, name="mcp-connect"),
    path("admin/mcp-services/<int:service_id>/disconnect/", mcp_views.disconnect, name="mcp-disconnect"),
    path("admin/gaps/", gap_views.gap_list, name="gaps"),
]
