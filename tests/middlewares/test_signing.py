from __future__ import annotations

import json
import re
import threading
from base64 import b64decode, urlsafe_b64decode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import time

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from focuscrawl.errors import FocusError
from focuscrawl.manners.signing import Signer, authority, load_key, make_key, signer, thumbprint
from tests.conftest import scrapy

AGENT = "https://bot.example.com"
#: The key of RFC 8037, A.1.
JWK = {
    "kty": "OKP",
    "crv": "Ed25519",
    "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
}


class Site(BaseHTTPRequestHandler):
    """A site that notes what it is asked."""

    asked: list[tuple[str, dict[str, str]]]

    def do_GET(self):
        self.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        pages = {"/": b"<p>sort <a href='/moved'>sort</a>", "/next": b"<p>sort of another page"}
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/next")
        else:
            self.send_response(200 if self.path in pages else 404)
        body = pages.get(self.path, b"")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def site():
    handler = type("Handler", (Site,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server, handler.asked
    server.shutdown()
    server.server_close()


def dictionary_member(field: str) -> tuple[str, str]:
    """Label and value of a dictionary with one member."""
    label, _, value = field.partition("=")
    return label, value


def verify(headers: dict[str, str], public: dict[str, str]) -> dict[str, str]:
    """Verify a request as RFC 9421, 3.2 says, component by component; returns the parameters of the signature."""
    label, inputs = dictionary_member(headers["signature-input"])
    signed_label, signature = dictionary_member(headers["signature"])
    agent_label, agent = dictionary_member(headers["signature-agent"])
    assert label == signed_label == agent_label
    covered, _, parameters = inputs[1:].partition(")")
    lines = []
    for component in covered.split(" "):
        if component == '"@authority"':
            value = headers["host"].lower()
        elif component == f'"signature-agent";key="{label}"':
            value = agent
        else:
            raise AssertionError(component)
        lines.append(f"{component}: {value}")
    lines.append(f'"@signature-params": {inputs}')
    key = Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(public["x"] + "="))
    key.verify(b64decode(signature.strip(":")), "\n".join(lines).encode())
    return {name: value.strip('"') for name, value in re.findall(r';(\w+)=("[^"]*"|\d+)', parameters)}


def crawl(site, folder: Path, *settings: str):
    given = [word for setting in settings for word in ("-s", setting)]
    return scrapy(
        "crawl", "best_first", "-a", f"seeds=http://127.0.0.1:{site.server_port}/", "-a", "keywords=sort",
        "-s", f"FOCUS_DIR={folder}", *given,
    )  # fmt: skip


def test_every_request_to_a_real_server_is_signed_and_nothing_else_knows_the_key(site, tmp_path):
    server, asked = site
    made = scrapy("signkey", tmp_path / "bot.pem")
    assert made.returncode == 0, made.stderr
    (public,) = json.loads(made.stdout)["keys"]
    secret = (tmp_path / "bot.pem").read_text()
    result = crawl(
        server,
        tmp_path / "c",
        f"FOCUS_SIGN_KEY={tmp_path / 'bot.pem'}",
        f"FOCUS_SIGN_AGENT={AGENT}/",
        "LOG_LEVEL=DEBUG",
    )
    assert result.returncode == 0, result.stderr
    assert {path for path, _ in asked} >= {"/", "/moved", "/next", "/robots.txt"}
    nonces = set()
    for _, headers in asked:
        assert headers["signature-agent"] == f'sig1="{AGENT}"'
        parameters = verify(headers, public)
        assert parameters["keyid"] == public["kid"]
        assert parameters["tag"] == "web-bot-auth"
        assert int(parameters["created"]) <= time() + 1 < int(parameters["expires"])
        nonces.add(parameters["nonce"])
    assert len(nonces) == len(asked)
    assert {headers["host"].partition(":")[0] for _, headers in asked} == {"127.0.0.1", "localhost"}
    body = secret.splitlines()[1]
    kept = [path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert not any(body.encode() in content or b"bot.pem" in content for content in kept)
    assert body not in result.stderr + result.stdout
    other = dict(asked[0][1], host="other.example")
    with pytest.raises(InvalidSignature):
        verify(other, public)


def test_without_a_key_nothing_is_signed(site, tmp_path):
    server, asked = site
    result = crawl(server, tmp_path / "c")
    assert "SigningMiddleware" not in result.stderr
    assert asked
    assert not any(name.startswith("signature") for _, headers in asked for name in headers)


def test_the_thumbprint_is_that_of_the_rfc():
    assert thumbprint(JWK) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_a_key_may_be_a_jwk(tmp_path):
    (tmp_path / "key.json").write_text(json.dumps(JWK))
    headers = signer(str(tmp_path / "key.json"), AGENT).headers("http://a.example/", 1_700_000_000)
    parameters = verify({name.lower(): value for name, value in headers.items()} | {"host": "a.example"}, JWK)
    assert (parameters["created"], parameters["expires"]) == ("1700000000", "1700000300")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://A.example/x?y", "a.example"),
        ("http://a.example:80/", "a.example"),
        ("https://a.example:443/", "a.example"),
        ("https://a.example:80/", "a.example:80"),
        ("http://u:p@a.example:8080/", "a.example:8080"),
        ("http://[::1]:80/", "[::1]"),
        ("http://[::1]/", "[::1]"),
    ],
)
def test_the_authority_is_normalised(url, expected):
    assert authority(url) == expected


def test_a_new_key_is_for_its_owner_only_and_is_never_overwritten(tmp_path):
    path = tmp_path / "bot.pem"
    first = scrapy("signkey", path)
    assert "keep it secret" in first.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    again = scrapy("signkey", path)
    assert again.stdout == first.stdout
    assert path.read_bytes() == before
    (public,) = json.loads(first.stdout)["keys"]
    canonical = json.dumps({name: public[name] for name in ("crv", "kty", "x")}, separators=(",", ":"))
    assert urlsafe_b64decode(public["kid"] + "=") == sha256(canonical.encode()).digest()
    assert "d" not in public


SECRETS = {
    "text.pem": "not a key: SECRET",
    "rsa.json": '{"kty": "RSA", "d": "SECRET"}',
    "short.json": '{"kty": "OKP", "crv": "Ed25519", "d": "SECRET"}',
    "list.json": '{"kty": "OKP", "crv": "Ed25519", "d": ["SECRET"]}',
    "deep.json": '{"a":' * 20_000 + "SECRET",
    "empty.pem": "",
}


@pytest.mark.parametrize("name", SECRETS)
def test_what_is_no_key_is_refused_in_one_line_that_does_not_quote_it(name, tmp_path):
    (tmp_path / name).write_text(SECRETS[name])
    with pytest.raises(FocusError, match="is no Ed25519 private key") as error:
        load_key(str(tmp_path / name), "setting FOCUS_SIGN_KEY")
    assert "SECRET" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_key_in_place_of_its_path_is_not_quoted(tmp_path):
    make_key(tmp_path / "bot.pem")
    for given in ((tmp_path / "bot.pem").read_text(), json.dumps(JWK)):
        with pytest.raises(FocusError, match="write it to a file") as error:
            load_key(given, "setting FOCUS_SIGN_KEY")
        assert given.split()[-4] not in str(error.value)


@pytest.mark.parametrize("agent", [None, "", "http://bot.example.com", "https://a.example/path", 'https://a"b', "bot"])
def test_the_agent_is_a_site_with_https(agent, tmp_path):
    with pytest.raises(FocusError, match="FOCUS_SIGN_AGENT"):
        signer(str(tmp_path / "key"), agent)


def test_a_missing_key_costs_one_line(site, tmp_path):
    server, asked = site
    result = crawl(server, tmp_path / "c", f"FOCUS_SIGN_KEY={tmp_path / 'none.pem'}", f"FOCUS_SIGN_AGENT={AGENT}")
    assert result.returncode == 2
    assert "FOCUS_SIGN_KEY: cannot read" in result.stderr
    assert "Traceback" not in result.stderr
    assert not asked


def test_a_signer_does_not_show_its_key(tmp_path):
    assert repr(Signer(make_key(tmp_path / "k"), AGENT)).startswith("<Signer ")
