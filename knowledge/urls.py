from django.urls import include, path

from knowledge import views

urlpatterns = [
    path("", include("knowledge.sources.urls")),
    path("library/", views.bases, name="library"),
    path("library/<uuid:base_id>/", views.base, name="base"),
    path("library/folders/<uuid:folder_id>/", views.folder, name="folder"),
    path("library/folders/<uuid:folder_id>/progress/", views.folder_progress, name="folder-progress"),
    path("library/folders/<uuid:folder_id>/upload/", views.upload, name="folder-upload"),
    path("library/folders/<uuid:folder_id>/folders/", views.new_folder, name="folder-new"),
    path("library/folders/<uuid:folder_id>/rename/", views.change_name, name="folder-rename"),
    path("library/folders/<uuid:folder_id>/move/", views.change_place, name="folder-move"),
    path("library/folders/<uuid:folder_id>/delete/", views.remove_folder, name="folder-delete"),
    path("documents/<uuid:document_id>/", views.document, name="document"),
    path("documents/<uuid:document_id>/progress/", views.document_progress, name="document-progress"),
    path("documents/<uuid:document_id>/retry/", views.retry, name="document-retry"),
    path("documents/<uuid:document_id>/delete/", views.remove, name="document-delete"),
    path("documents/<uuid:document_id>/download/", views.download, name="document-download"),
    path(
        "documents/<uuid:document_id>/versions/<int:version_number>/pages/<int:page>.png",
        views.page_image,
        name="page-image",
    ),
    path("sources/<uuid:base_id>/<uuid:chunk_id>/", views.source, name="source"),
]
