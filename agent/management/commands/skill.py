"""Skills from the command line: add, look at, approve, switch off, choose profiles."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from agent.models import AgentProfile, Skill
from agent.models.skills import Verdict
from agent.skills import services as keeping
from agent.skills.packages import Package, package_in, read_package
from agent.skills.shipped_skills import shipped_names, shipped_package
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.plain_text import visible


class Command(BaseCommand):
    help = (
        "Add a skill (a zip, a folder, or one of ours: compare-versions, release-notes-digest, report), show it, approve it, bind it to "
        "profiles, switch it off. A skill answers when a version is approved and the profile has it and its tools."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=("add", "show", "approve", "bind", "off", "delete", "list"))
        parser.add_argument(
            "name", nargs="?", default="", help="its name; with add a zip, a folder or the name of one of ours"
        )
        parser.add_argument("profiles", nargs="*", help="with bind: names of assistants; none: of none")
        parser.add_argument(
            "--sha256", default="", help="with approve: of the version that was looked at, as show says it"
        )
        parser.add_argument("--as", dest="username", required=True, help="who does it, with the right to")

    def handle(self, *, what: str, name: str, profiles: list[str], username: str, sha256: str, **_options: Any) -> None:
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no account {username!r}.")
        try:
            if what == "list":
                self._list(user)
            elif what == "add":
                version = keeping.add_version(user, _package(name))
                self.stdout.write(f"{version.skill.name}, version {version.number}, waits for a review.")
            else:
                self._of_one(what, user, _skill(user, name), profiles, sha256)
        except CopilotError as error:
            raise CommandError(str(error)) from error

    def _list(self, user: User) -> None:
        for skill in keeping.seen_skills(user):
            used = f"version {skill.in_use.number} in use" if skill.in_use else "off"
            bound = ", ".join(profile.name for profile in skill.profiles.all()) or "no profile"
            self.stdout.write(f"{skill.name}: {used}; {bound}")

    def _of_one(self, what: str, user: User, skill: Skill, profiles: list[str], sha256: str) -> None:
        newest = skill.versions.first()
        if what == "show" and newest is not None:
            self.stdout.write(
                f"{skill.name}, version {newest.number}, {newest.get_verdict_display()}, SHA-256 {newest.sha256}\n"
            )
            for path, content in keeping.files_of(newest).items():
                self.stdout.write(f"--- {path}\n{visible(content.decode(errors='replace'))}")
        elif what == "approve" and newest is not None:
            keeping.review(user, newest, Verdict.APPROVED, sha256_seen=sha256)
            self.stdout.write(f"{skill.name}, version {newest.number}, is in use.")
        elif what == "bind":
            found = list(AgentProfile.objects.filter(name__in=profiles))
            if missing := set(profiles) - {profile.name for profile in found}:
                raise CommandError(f"There is no assistant {min(missing)!r}.")
            keeping.bind(user, skill, found)
            self.stdout.write(f"{skill.name}: {', '.join(profiles) or 'no profile'}.")
        elif what == "off":
            keeping.switch(user, skill, None)
            self.stdout.write(f"{skill.name} is off.")
        else:
            keeping.delete_skill(user, skill)
            self.stdout.write(f"{skill.name} is deleted.")


def _skill(user: User, name: str) -> Skill:
    found = keeping.seen_skills(user).filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no skill {name!r}.")
    return found


def _package(named: str) -> Package:
    if named in shipped_names():
        return shipped_package(named)
    place = Path(named)
    if place.is_file():
        return read_package(place.read_bytes())
    if not named or not place.is_dir():
        raise CommandError(f"There is no zip, no folder and no skill of ours at {named!r}.")
    return package_in(place)
