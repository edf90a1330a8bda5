from django.urls import path

from knowledge.sources import views

urlpatterns = [
    path("admin/sources/", views.sources, name="sources-of-documents"),
    path("admin/sources/new/<slug:kind>/", views.new_source, name="source-of-documents-new"),
    path("admin/sources/<uuid:kept_id>/", views.one_source, name="source-of-documents"),
    path("admin/sources/<uuid:kept_id>/run/", views.run_now, name="source-of-documents-run"),
    path("admin/sources/<uuid:kept_id>/webhook/", views.new_hook, name="source-of-documents-hook"),
    path("admin/sources/<uuid:kept_id>/delete/", views.remove_source, name="source-of-documents-delete"),
    path("hooks/sources/<uuid:kept_id>", views.hook, name="source-hook"),
]
