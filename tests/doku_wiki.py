"""A real DokuWiki for a test, out of Debian's packages: its files and PHP's own server."""

import shutil
import subprocess
import time
import xmlrpc.client
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ports import own_port
from tests.waiting import wait_for_port

PLACE = Path("/opt/wikis")  # where scripts/system-packages unpacks it
WIKI, SHARED = PLACE / "usr/share/dokuwiki", PLACE / "usr/share"
USER, PASSWORD = "keeper", "a-long-enough-password"


@dataclass
class DokuWiki:
    url: str

    def edit(self, page: str, text: str) -> None:
        """text: in the wiki's own marks; "" deletes the page. A revision is named by its second, so each has one of its own."""
        time.sleep(1)
        self._proxy().wiki.putPage(page, text, {"sum": "a test"})

    def _proxy(self) -> Any:
        pair = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return xmlrpc.client.ServerProxy(f"{self.url}lib/exe/xmlrpc.php", headers=[("Authorization", f"Basic {pair}")])


@contextmanager
def running_dokuwiki(folder: Path, *, is_private: bool = False) -> Iterator[DokuWiki]:
    """A fresh wiki below `folder`. is_private: whoever is not signed in reads nothing."""
    wiki, conf, data = folder / "wiki", folder / "conf", folder / "data"
    shutil.copytree(WIKI, wiki, symlinks=True)
    shutil.copytree(PLACE / "var/lib/dokuwiki/data", data)
    shutil.rmtree(data / "pages")  # about DokuWiki itself
    (data / "pages").mkdir()
    conf.mkdir()
    for file in (PLACE / "etc/dokuwiki").iterdir():
        if file.is_file():  # the others are links to where Debian keeps accounts
            shutil.copy(file, conf / file.name)
    for name in ("plugins", "tpl"):
        (wiki / "lib" / name).unlink()
        shutil.copytree(PLACE / "var/lib/dokuwiki/lib" / name, wiki / "lib" / name)
    for file in (wiki / "vendor/composer").glob("autoload_*.php"):
        text = file.read_text()
        for before in ("$vendorDir . '/usr/share", "__DIR__ . '/..' . '/usr/share", "'/usr/share"):
            text = text.replace(before, f"'{SHARED}")
        file.write_text(text)
    preload = wiki / "inc/preload.php"
    preload.write_text(
        f"<?php define('DOKU_MAIN_CONF', '{conf}/'); define('DOKU_CONF', '{conf}/'); ?>{preload.read_text()}"
    )
    _configure(conf, data, is_private=is_private)
    port = own_port()
    command = ["php", "-S", f"127.0.0.1:{port}", "-t", str(wiki)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield DokuWiki(f"http://127.0.0.1:{port}/")
    finally:
        server.terminate()
        server.wait()


def _configure(conf: Path, data: Path, *, is_private: bool) -> None:
    settings = {"title": "Test", "useacl": 1, "superuser": USER, "remote": 1, "remoteuser": "", "savedir": str(data)}
    settings |= {"authtype": "authplain", "updatecheck": 0, "passcrypt": "bcrypt"}
    lines = [f"$conf['{name}'] = {value!r};" for name, value in settings.items()]
    (conf / "local.php").write_text("\n".join(["<?php", *lines]))
    hashing = ["php", "-r", "echo password_hash($argv[1], PASSWORD_BCRYPT);", "--", PASSWORD]
    hashed = subprocess.run(hashing, check=True, capture_output=True, text=True).stdout
    (conf / "users.auth.php").write_text(f"{USER}:{hashed}:Keeper:keeper@example.com:admin,user\n")
    (conf / "acl.auth.php").write_text(f"*\t@ALL\t{0 if is_private else 1}\n*\t@user\t8\n")
