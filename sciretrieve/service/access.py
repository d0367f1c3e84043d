"""Access tokens, and the file with their hashes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import re
import secrets
from pathlib import Path

from starlette.datastructures import Headers

from ..base import system
from ..base.errors import InvalidRequest, NotFound, SciretrieveError
from ..base.wording import counted
from ..files.writing import replaced

LOG = logging.getLogger(__name__)
LINE = re.compile(r"(?P<name>\S+)\s+(?P<hash>[0-9a-f]{64})")
NAME = re.compile(r"[\w.@-]{1,64}")


class AccessTokens:
    """The access tokens of a service. A token is long and random, so its hash, SHA-256, reveals nothing."""

    def __init__(self, path: Path) -> None:
        """Read a file with a name and a hash per line; empty lines and lines that begin with # are skipped.

        Raises NotFound, and InvalidRequest for an invalid line.
        """
        self._path = path
        self._hashes = _hashes_in(path)

    def reload(self) -> None:
        """Read the file again. If that fails, the tokens stay, and the log has the reason."""
        try:
            self._hashes = _hashes_in(self._path)
            LOG.warning("the tokens were read again: %s", counted(len(self._hashes), "token"))
        except SciretrieveError as error:
            LOG.error("the tokens stay as they are: %s", error)

    def name_of(self, token: str) -> str | None:
        """The name of a token's owner; None for an unknown token. It takes the same time for every token."""
        digest, names = _hash(token), list[str]()
        for name, known in self._hashes.items():
            if hmac.compare_digest(digest, known):
                names.append(name)
        return names[0] if names else None


def reread_at_hangup(tokens: AccessTokens | None) -> None:
    """Make SIGHUP reload the tokens, if there are any, instead of ending the process."""
    system.at_hangup(lambda: tokens.reload() if tokens is not None else None)


def new_token(path: Path, name: str) -> str:
    """A new token for a name. Its hash is added to the file, which is created if missing. Raises InvalidRequest for an invalid name, or one
    with a token.
    """
    if not NAME.fullmatch(name):
        raise InvalidRequest(f"{name!r} cannot name a token; use up to 64 letters, digits, dots and dashes")
    if path.exists() and name in AccessTokens(path)._hashes:
        raise InvalidRequest(f"{path} has a token of {name}; remove its line first, or choose another name")
    token = secrets.token_urlsafe(32)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    with replaced(path) as file:
        file.write((text + "\n" * (bool(text) and not text.endswith("\n")) + f"{name} {_hash(token)}\n").encode())
    path.chmod(0o600)
    return token


def _hashes_in(path: Path) -> dict[str, str]:
    """The hashes of a file's tokens by name. Raises NotFound, InvalidRequest."""
    hashes: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}; make one with `sciretrieve serve token NAME {path}`") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} cannot be read: {error}; name a file that `sciretrieve serve token` made") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise InvalidRequest(f"{path}, line {number}: a line is a name and the hash of a token; remove it, or make one anew")
        hashes[match["name"]] = match["hash"]
    return hashes


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def token_of(headers: Headers) -> str | None:
    """The token of a request: a bearer token, the key of Semantic Scholar's clients, or a password, which browsers ask for and an address
    can contain: `http://me:TOKEN@host`.
    """
    if key := headers.get("x-api-key"):
        return key
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip() or None
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
    except (binascii.Error, UnicodeDecodeError):
        return None
