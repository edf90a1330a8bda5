from django.urls import path

from agent.oversight import rating_views, replay_views, see_as

urlpatterns = [
    path("admin/see-as/", see_as.choose, name="see-as-choose"),
    path("admin/see-as/<int:user_id>/", see_as.see_as, name="see-as"),
    path("admin/answers/", replay_views.answer_list, name="answers"),
    path("admin/answers/<uuid:message_id>/", replay_views.replay_answer, name="replay"),
    path("admin/ratings/", rating_views.rating_list, name="ratings"),
]
