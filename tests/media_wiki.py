"""A real MediaWiki for a test, out of Debian's packages: its files, SQLite and PHP's own server."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import own_port
from tests.programs import WIKIS
from tests.waiting import wait_for_port

PLACE = WIKIS / "mediawiki"
OWN = ("images", "config", "extensions", "cache")  # folders that Debian links elsewhere
PASSWORD = "a-long-enough-password"
BOT_PASSWORD = "0123456789abcdefghijklmnopqrstuv"


@dataclass
class MediaWiki:
    folder: Path
    url: str

    @property
    def api(self) -> str:
        return f"{self.url}/api.php"

    def run(self, script: str, *args: str, text: str = "") -> None:
        command = ["php", f"maintenance/{script}.php", *args]
        subprocess.run(command, cwd=self.folder, env=self.env, input=text, check=True, capture_output=True, text=True)

    @property
    def env(self) -> dict[str, str]:
        """Most folders are links: MediaWiki would look for its settings where they lead."""
        return {**os.environ, "MW_INSTALL_PATH": str(self.folder)}

    def edit(self, title: str, text: str) -> None:
        self.run("edit", "--user", "Keeper", title, text=text)

    def move(self, old: str, new: str) -> None:
        self._batch("moveBatch", f"{old}|{new}", "--noredirects")

    def delete(self, title: str) -> None:
        self._batch("deleteBatch", title)

    def _batch(self, script: str, line: str, *args: str) -> None:
        listed = self.folder / "batch.txt"
        listed.write_text(f"{line}\n")
        self.run(script, *args, str(listed))


@contextmanager
def running_mediawiki(folder: Path, *, is_private: bool = False) -> Iterator[MediaWiki]:
    """A fresh wiki below `folder`. is_private: whoever is not signed in reads nothing."""
    source, target = PLACE, folder / "wiki"
    target.mkdir()
    for item in source.iterdir():
        if item.is_dir() and not item.is_symlink() and item.name != "maintenance":
            (target / item.name).symlink_to(item)
        elif item.name == "maintenance" or (item.is_file() and not item.is_symlink()):
            (shutil.copytree if item.is_dir() else shutil.copy)(item, target / item.name)
    for name in OWN:
        (target / name).mkdir(exist_ok=True)
    port = own_port()
    wiki = MediaWiki(target, f"http://127.0.0.1:{port}")
    data = folder / "data"
    data.mkdir()
    options = [
        "--dbtype",
        "sqlite",
        "--dbpath",
        str(data),
        "--dbname",
        "wiki",
        "--server",
        wiki.url,
        "--scriptpath",
        "",
    ]
    wiki.run("install", *options, "--pass", PASSWORD, "--confpath", str(target), "Test", "Keeper")
    if is_private:
        with (target / "LocalSettings.php").open("a") as settings:
            settings.write("\n$wgGroupPermissions['*']['read'] = false;\n")
    wiki.run("createBotPassword", "--appid", "copilot", "--grants", "basic,highvolume", "Keeper", BOT_PASSWORD)
    server = subprocess.Popen(
        ["php", "-S", f"127.0.0.1:{port}", "-t", str(target)],
        env=wiki.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        yield wiki
    finally:
        server.terminate()
        server.wait()
