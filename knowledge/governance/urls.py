from django.urls import path

from knowledge.governance import health, people_views, request_views, views

urlpatterns = [
    path("admin/rights/", views.rights_tree, name="rights-tree"),
    path("admin/rights/several/", views.several, name="rights-several"),
    path("admin/rights/matrix/<uuid:base_id>/", views.rights_matrix, name="rights-matrix"),
    path("admin/rights/<slug:kind>/<uuid:place_id>/", views.place, name="rights-place"),
    path("admin/rights/<slug:kind>/<uuid:place_id>/change/", views.change, name="rights-change"),
    path("admin/rights/<slug:kind>/<uuid:place_id>/why/", views.why, name="rights-why"),
    path("admin/rights/effective.csv", views.export, name="rights-export"),
    path("admin/people/", people_views.people_list, name="people"),
    path("admin/people/<int:user_id>/", people_views.person, name="person"),
    path("admin/people/<int:user_id>/membership/", people_views.membership, name="membership"),
    path("admin/ingestion/", health.ingestion, name="ingestion"),
    path("admin/ingestion/<uuid:document_id>/again/", health.try_again, name="ingestion-again"),
    path("requests/", request_views.my_requests, name="my-requests"),
    path("requests/waiting/", request_views.access_requests, name="access-requests"),
    path("requests/<int:request_id>/decide/", request_views.decide, name="access-request-decide"),
    path("requests/<uuid:folder_id>/", request_views.ask_for_access, name="ask-for-access"),
]
