"""A small company for the tests of governance: who belongs where, what is granted, and clients that are signed in."""

import re
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from authz.models import OrgUnit, Role
from authz.people.roles import create_role
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document, Folder, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user


class World:
    """Base Handbook > Rules > Travel, and Handbook > Pay. Unit Platform lies in Engineering; anna is in Platform, ben an auditor.

    Engineering may view and download in Rules. boss manages the base, mia the folder Rules, root is a superuser.
    """

    def __init__(self) -> None:
        self.base: KnowledgeBase = make_base("Handbook")
        self.rules = make_folder(self.base, "Rules")
        self.travel = make_folder(self.rules, "Travel")
        self.pay = make_folder(self.base, "Pay")
        self.travel_rules: Document = make_document(self.travel, "travel.md", title="Travel rules")
        self.house_rules: Document = make_document(self.rules, "house.md", title="House rules")
        self.salaries: Document = make_document(self.pay, "pay.md", title="Salaries")
        self.engineering: OrgUnit = create_unit(None, name="Engineering")
        self.platform: OrgUnit = create_unit(None, name="Platform", parent=self.engineering)
        self.auditors: Role = create_role(None, name="auditors")
        self.anna, self.ben = make_user("anna"), make_user("ben")
        add_member(None, self.platform, user=self.anna)
        add_member(None, self.auditors, user=self.ben)
        allow(self.engineering.group, self.rules, Right.VIEW, Right.DOWNLOAD)
        self.boss, self.mia = staff("boss"), staff("mia")
        allow(self.boss, self.base, Right.MANAGE)
        allow(self.mia, self.rules, Right.MANAGE)
        self.root = make_user("root", is_superuser=True)


def staff(username: str) -> User:
    """A person who may enter the admin."""
    user = make_user(username)
    User.objects.filter(pk=user.pk).update(is_staff=True)
    return User.objects.get(pk=user.pk)


def make_overseer(username: str = "olga") -> User:
    """Staff that may look through other people's eyes."""
    user = staff(username)
    user.user_permissions.add(Permission.objects.get(codename="oversee", content_type__app_label="authz"))
    return User.objects.get(pk=user.pk)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def principal_of(user: User) -> Principal:
    return Principal.of(user)


def place_url(name: str, place: KnowledgeBase | Folder | Document) -> str:
    kind = {KnowledgeBase: "base", Folder: "folder", Document: "document"}[type(place)]
    return reverse(name, args=[kind, place.pk])


def text_of(answer: Any) -> str:
    """What the page in a test client's answer says, without its tags, as one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())
