from django.urls import path

from agent.admin import model_views, profiles
from agent.oversight import impersonation_views, privacy_views, rating_views, replay_views, shown_views
from agent.question_sets import views as evaluation_views

urlpatterns = [
    path("admin/see-as/", impersonation_views.choose, name="see-as-choose"),
    path("admin/see-as/<int:user_id>/", impersonation_views.see_as, name="see-as"),
    path("admin/answers/", replay_views.answer_list, name="answers"),
    path("admin/answers/<uuid:message_id>/", replay_views.replay_answer, name="replay"),
    path("admin/shown/", shown_views.shown_list, name="shown"),
    path("admin/ratings/", rating_views.rating_list, name="ratings"),
    path("admin/language-models/", model_views.model_list, name="language-models"),
    path("admin/language-models/add/", model_views.add_model, name="language-model-add"),
    path("admin/language-models/try/", model_views.try_model, name="model-try"),
    path("admin/language-models/<int:model_id>/", model_views.edit_model, name="language-model"),
    path("admin/agent-profiles/try/", profiles.try_profile, name="profile-try"),
    path("admin/evaluations/", evaluation_views.set_list, name="evaluations"),
    path("admin/evaluations/<uuid:set_id>/", evaluation_views.set_page, name="evaluation"),
    path("admin/evaluations/<uuid:set_id>/runs/", evaluation_views.run_page, name="evaluation-runs"),
    path("admin/answers/<uuid:message_id>/evaluate/", evaluation_views.take_answer, name="evaluate-answer"),
    path("admin/gaps/", rating_views.gap_list, name="gaps"),
    path("admin/privacy/", privacy_views.privacy, name="privacy"),
]
