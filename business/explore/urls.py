from django.urls import path

from business.explore import views

urlpatterns = [
    path("data/", views.explore, name="explore"),
    path("data/table.csv", views.table, name="explore-table"),
    path("data/save/", views.save, name="explore-save"),
    path("data/saved/<uuid:saved_id>/", views.opened_again, name="saved-query"),
    path("data/saved/<uuid:saved_id>/share/", views.share, name="saved-query-share"),
    path("data/saved/<uuid:saved_id>/delete/", views.delete, name="saved-query-delete"),
]
