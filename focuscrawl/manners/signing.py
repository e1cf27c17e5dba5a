"""Web Bot Auth: signatures by which a site can tell who crawls it.

HTTP Message Signatures (RFC 9421) with an Ed25519 key, as draft-ietf-webbotauth-httpsig-protocol profiles them. A
signature covers the authority that a request goes to, and the site that publishes the public key.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from focuscrawl.console.program import program
from focuscrawl.errors import FocusError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: Seconds for which a signature is valid: enough for clocks that differ, too short to be of much use to others.
LIFETIME = 300
#: Where the directory of keys is published, and its media type.
DIRECTORY = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"

_LABEL = "sig1"
_MAX_KEY = 100_000
_AGENT = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Signer:
    """Signs requests with a private key."""

    def __init__(self, key: Ed25519PrivateKey, agent: str) -> None:
        """*agent* is the site that publishes the public key."""
        self._sign = key.sign
        #: The key's name: the thumbprint of its public half.
        self.key_id = thumbprint(public_jwk(key))
        self._agent = f'{_LABEL}="{agent}"'
        self._covered = f'"signature-agent";key="{_LABEL}": "{agent}"'

    def __repr__(self) -> str:
        return f"<Signer {self.key_id}>"

    def headers(self, url: str, now: int) -> dict[str, str]:
        """The headers that sign a request to *url*, made at *now* in seconds since 1970."""
        nonce = b64encode(secrets.token_bytes(32)).decode()
        parameters = (
            f'("@authority" "signature-agent";key="{_LABEL}");created={now};expires={now + LIFETIME}'
            f';keyid="{self.key_id}";alg="ed25519";nonce="{nonce}";tag="web-bot-auth"'
        )
        base = f'"@authority": {authority(url)}\n{self._covered}\n"@signature-params": {parameters}'
        signature = b64encode(self._sign(base.encode("ascii"))).decode()
        return {
            "Signature-Agent": self._agent,
            "Signature-Input": f"{_LABEL}={parameters}",
            "Signature": f"{_LABEL}=:{signature}:",
        }


def authority(url: str) -> str:
    """The host of a URL, with its port unless it is the default one (RFC 9421, 2.2.3)."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    name, colon, port = host.rpartition(":")
    if colon and (not port or (port.isdigit() and int(port) == _DEFAULT_PORTS.get(parts.scheme))):
        return name
    return host


def signer(path: str, agent: str | None) -> Signer:
    """The signer that FOCUS_SIGN_KEY and FOCUS_SIGN_AGENT describe."""
    if not agent or _AGENT.fullmatch(agent.rstrip("/")) is None:
        given = f"={agent}" if agent else ""
        raise FocusError(
            f"setting FOCUS_SIGN_AGENT{given}: expected the site that publishes your public key, such as"
            " https://bot.example.com"
        )
    return Signer(load_key(path, "setting FOCUS_SIGN_KEY"), agent.rstrip("/").lower())


def load_key(path: str, named: str) -> Ed25519PrivateKey:
    """Read an Ed25519 private key from a PEM or JWK file. No error quotes what is in the file."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if "PRIVATE KEY" in path or path.lstrip().startswith("{"):
        raise FocusError(f"{named} is a key; write it to a file and give the path of the file")
    remedy = f"make one with `{program()} signkey FILE`"
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MAX_KEY)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise FocusError(f"{named}: cannot read {path}: {reason}; {remedy}") from None
    try:
        if content.lstrip().startswith(b"{"):
            jwk = json.loads(content)
            if (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
                raise ValueError("another kind of key")
            return Ed25519PrivateKey.from_private_bytes(_decoded(jwk["d"]))
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, UnsupportedAlgorithm):
        key = None  # the error may quote the key
    if not isinstance(key, Ed25519PrivateKey):
        raise FocusError(f"{named}: {path} is no Ed25519 private key without a password, as PEM or JWK; {remedy}")
    return key


def make_key(path: Path) -> Ed25519PrivateKey:
    """Write a new private key to a file that only its owner can read."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    content = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except OSError as error:
        raise FocusError(f"cannot write {path}: {error.strerror}; choose another file") from None
    return key


def public_jwk(key: Ed25519PrivateKey) -> dict[str, str]:
    """The public half of a key (RFC 8037)."""
    return {"kty": "OKP", "crv": "Ed25519", "x": _encoded(key.public_key().public_bytes_raw())}


def thumbprint(jwk: dict[str, str]) -> str:
    """The thumbprint of a public Ed25519 key (RFC 7638, RFC 8037 A.3)."""
    needed = {name: jwk[name] for name in ("crv", "kty", "x")}
    return _encoded(sha256(json.dumps(needed, separators=(",", ":")).encode()).digest())


def directory(key: Ed25519PrivateKey) -> str:
    """The directory to publish: a set with the public key, as JSON."""
    jwk = public_jwk(key)
    return json.dumps({"keys": [{**jwk, "kid": thumbprint(jwk), "use": "sig"}]}, indent=1)


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
