from django.urls import path

from agent.skills import views

urlpatterns = [
    path("admin/skills/", views.skill_list, name="skills"),
    path("admin/skills/<uuid:skill_id>/", views.skill_page, name="skill"),
]
