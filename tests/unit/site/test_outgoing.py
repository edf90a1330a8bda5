"""Which addresses are connected to: every way to write one that leads inside is refused, and what is connected to is what was checked."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from copilot_site.lib.outgoing.addresses import (
    PUBLIC,
    WEB,
    AddressPolicy,
    AddressRefused,
    build_http_service_policy,
    build_service_policy,
    check_target,
    check_url,
    normalise_host,
    parse_entries,
)
from tests.evaluation_data import data_folder

INSIDE = AddressPolicy(("private",))
PUBLIC_ADDRESS = "93.184.216.34"
OWN = Path(__file__).parent / "outgoing_cases.jsonl"

Case = dict[str, Any]


def cases(text: str) -> list[Case]:
    return [json.loads(line) for line in text.splitlines()]


class Names:
    """Name service of a test: names of cases, and what a resolver makes of numbers; asked once a name, in order."""

    def __init__(self, case: Case) -> None:
        self.answers = case.get("dns_sequence") or [case.get("dns") or [PUBLIC_ADDRESS]]
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host == "localhost" or host.endswith(".localhost"):
            return ["127.0.0.1", "::1"]
        if host.endswith(".example") or host in {"example", "public.example"}:
            return list(self.answers[min(len(self.asked), len(self.answers)) - 1])
        if ":" in host or host.replace(".", "").isdigit():
            return [host]
        raise OSError(f"no such name: {host}")


def outcome(case: Case) -> str:
    """What WEB says of every address of a case: of the page, of what it leads to, of what lies within it."""
    names, allowed = Names(case), case.get("settings", {}).get("CRAWLER_ALLOWED_HOSTS", ())
    policy = WEB.with_named(*parse_entries(",".join(allowed)))
    further = [case.get(key) for key in ("redirect_to", "html_refresh", "subresource")] + case.get("sitemap", [])
    try:
        for url in [case["url"], *(urljoin(case["url"], one) for one in further if one)]:
            target = check_url(url, policy, resolve=names)
            assert set(target.addresses) <= {target.host, *(one for answer in names.answers for one in answer)}
    except AddressRefused:
        return "deny"
    assert len(names.asked) == len(set(names.asked)) or case.get("redirect_to"), "a name is asked for once"
    return "allow"


def test_an_address_is_allowed_or_refused() -> None:
    for case in cases(OWN.read_text()):
        assert outcome(case) == case["expect"]


def test_cases_of_the_evaluation_data() -> None:
    found = cases((data_folder("cases") / "ssrf_cases.dev.jsonl").read_text())
    # bodies that are too large or too slow are the fetcher's to stop; a second answer of the name is never asked for
    ours = [case for case in found if "response" not in case and "dns_sequence" not in case]
    wrong = {case["id"]: case["url"] for case in ours if outcome(case) != case["expect"]}
    assert wrong == {}
    assert len(ours) >= 90


def test_without_the_check_the_same_cases_pass() -> None:
    """The refusals come of the policy: one that is open lets the well-formed ones through."""
    everything = AddressPolicy(("0.0.0.0/0", "::/0", "localhost", "169.254.0.0/16"))
    assert check_url("http://169.254.169.254/latest/", everything).addresses == ("169.254.169.254",)
    assert check_url("http://127.0.0.1/", everything).addresses == ("127.0.0.1",)


def test_what_is_connected_to_is_what_was_checked() -> None:
    names = Names({"dns_sequence": [[PUBLIC_ADDRESS], ["127.0.0.1"]]})
    target = check_target("rebind.example", 443, WEB, resolve=names)
    assert target.addresses == (PUBLIC_ADDRESS,)
    assert names.asked == ["rebind.example"]


@pytest.mark.parametrize(
    ("host", "addresses", "is_allowed"),
    [
        ("db.internal", ["10.1.2.3"], True),
        ("db.internal", ["fd12::7"], True),
        ("db.internal", ["192.168.0.5", "172.20.0.9"], True),
        ("db.example.com", [PUBLIC_ADDRESS], False),
        ("db.internal", ["10.1.2.3", PUBLIC_ADDRESS], False),
        ("db.internal", ["10.1.2.3", "127.0.0.1"], False),
        ("db.internal", ["169.254.169.254"], False),
        ("db.internal", ["fd00:ec2::254"], False),
        ("db.internal", ["::ffff:10.1.2.3"], True),
        ("db.internal", ["::ffff:127.0.0.1"], False),
        ("db.internal", ["64:ff9b::7f00:1"], False),
        ("db.internal", ["fe80::1%eth0"], False),
        ("db.internal", ["100.64.0.1"], False),
    ],
)
def test_databases_are_in_private_networks_unless_named(host: str, addresses: list[str], is_allowed: bool) -> None:
    def resolve(_host: str, _port: int) -> list[str]:
        return addresses

    if is_allowed:
        assert check_target(host, 5432, INSIDE, resolve=resolve).addresses == tuple(addresses)
        return
    with pytest.raises(AddressRefused, match="COPILOT_OUTGOING_ALLOW"):
        check_target(host, 5432, INSIDE, resolve=resolve)


@pytest.mark.parametrize(
    ("entry", "host", "address", "is_allowed"),
    [
        ("db.example.com", "db.example.com", PUBLIC_ADDRESS, True),
        ("db.example.com", "DB.Example.COM.", "10.0.0.1", True),
        ("db.example.com", "x.db.example.com", PUBLIC_ADDRESS, False),
        ("*.example.com", "db.example.com", PUBLIC_ADDRESS, True),
        ("*.example.com", "example.com", PUBLIC_ADDRESS, False),
        ("*.example.com", "notexample.com", PUBLIC_ADDRESS, False),
        ("10.1.0.0/16", "db.internal", "10.1.2.3", True),
        ("10.1.0.0/16", "db.internal", "10.2.2.3", False),
        ("localhost", "localhost", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "db.internal", "127.0.0.2", False),
        ("db.internal", "db.internal", "127.0.0.1", False),  # a name that has come to lead here
        ("db.internal", "db.internal", "169.254.169.254", False),
        ("private", "db.internal", "fd00:ec2::23", False),  # credentials of the host: EKS Pod Identity
        ("private", "db.internal", "fd00:ec2::254", False),
        ("private", "db.internal", "fd00:ec3::254", True),
        ("0.0.0.0/0", "db.internal", "127.0.0.1", False),  # all of the internet, not this machine
        ("0.0.0.0/0", "db.example.com", PUBLIC_ADDRESS, True),
        ("169.254.169.254", "169.254.169.254", "169.254.169.254", True),
        ("private", "private", PUBLIC_ADDRESS, False),  # a word, no host
        ("*.例子.example", "db.例子.example", PUBLIC_ADDRESS, True),
    ],
)
def test_an_entry_allows_what_it_names(entry: str, host: str, address: str, is_allowed: bool) -> None:
    policy = AddressPolicy(parse_entries(entry))
    try:
        check_target(host, 5432, policy, resolve=lambda *_: [address])
    except AddressRefused:
        assert not is_allowed
    else:
        assert is_allowed


@pytest.mark.parametrize(
    "host",
    ["", "a,b", "10.0.0.1,127.0.0.1", "/var/run/postgresql", "fe80::1%lo", "127.1", "0x7f000001", "2130706433",
     "10.0.0.1:5432", "a b", "a\nb", "db.example.com/x", "user@db", "a..b", "x" * 300],
)  # fmt: skip
def test_what_is_no_single_host_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused):
        normalise_host(host)


def test_public_counts_where_tls_proves_who_answers(settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private", "public")
    assert check_url("https://api.example/v1", build_http_service_policy("https://api.example/v1"), resolve=Names({}))
    with pytest.raises(AddressRefused):
        check_url("http://api.example/v1", build_http_service_policy("http://api.example/v1"), resolve=Names({}))
    with pytest.raises(AddressRefused):
        check_target("db.example", 5432, build_service_policy(), resolve=Names({}))


@pytest.mark.parametrize("text", ["10.0.0.0/33", "http://x", "a b", "x,,*.*", "127.1"])
def test_a_list_that_cannot_be_read_stops_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="neither a host"):
        parse_entries(text)


def test_one_address_of_this_machine_is_open_and_no_other() -> None:
    """Neither another name, another loopback address nor another port; and `localhost` where it is this machine."""
    here, far = AddressPolicy((PUBLIC,), here=("127.0.0.1", 11434)), AddressPolicy((), here=("localhost", 11434))
    for policy, host, port, leads_to in ((here, "127.0.0.1", 11434, "127.0.0.1"), (far, "localhost", 11434, "::1")):
        assert check_target(host, port, policy, resolve=lambda *_, to=leads_to: [to]).addresses == (leads_to,)
    for policy, host, port, leads_to in (
        (here, "127.0.0.1", 11435, "127.0.0.1"),
        (here, "127.0.0.2", 11434, "127.0.0.2"),
        (here, "localhost", 11434, "127.0.0.1"),
        (here, "rebound.example", 11434, "127.0.0.1"),
        (far, "localhost", 11434, "169.254.169.254"),
        (far, "localhost.example", 11434, "127.0.0.1"),
        (AddressPolicy((), here=("rebound.example", 11434)), "rebound.example", 11434, "127.0.0.1"),
    ):
        with pytest.raises(AddressRefused):
            check_target(host, port, policy, resolve=lambda *_, to=leads_to: [to])
