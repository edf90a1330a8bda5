from django.urls import path

from agent import model_test_views
from agent.oversight import gap_views, impersonation_views, rating_views, replay_views
from agent.web import try_views

urlpatterns = [
    path("admin/see-as/", impersonation_views.choose, name="see-as-choose"),
    path("admin/see-as/<int:user_id>/", impersonation_views.see_as, name="see-as"),
    path("admin/answers/", replay_views.answer_list, name="answers"),
    path("admin/answers/<uuid:message_id>/", replay_views.replay_answer, name="replay"),
    path("admin/ratings/", rating_views.rating_list, name="ratings"),
    path("admin/language-models/try/", model_test_views.try_model, name="model-try"),
    path("admin/web-searches/try/", try_views.try_search, name="web-search-try"),
    path("admin/gaps/", gap_views.gap_list, name="gaps"),
]
