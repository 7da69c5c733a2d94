"""The service's signing keys: given once, or fetched from its JWKS and kept.

Rotation needs no action by a relay. A new key is published an hour before its first use, so it is here in time. A token
with an unknown key triggers a fetch, at most every 30 seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import httpx
from cryptography.hazmat.primitives.asymmetric import ec

from boxoffice._failures import invalid
from boxoffice._jose import read_key, read_object
from boxoffice._limits import check_url, http_trust
from boxoffice._sync import io
from boxoffice.relay.errors import AdmissionRefused

FRESH_SECONDS = 600
"""The keys are fetched again after this time, so a removed key may be accepted for as long."""
USABLE_SECONDS = 3600
"""While the service is unavailable, keys up to this age are still used."""
COOLDOWN_SECONDS = 30
"""Minimum time between two fetches, whether the first succeeded or not."""
_FETCH_SECONDS = 5.0

PublicKey = ec.EllipticCurvePublicKey


class Keys(Protocol):
    """Where keys come from. They may be used by many threads."""

    def get(self, kid: object) -> PublicKey:
        """Return a key. Raises `AdmissionRefused` if there is no such key, or no key set."""
        ...

    def is_due(self, kid: object) -> bool:
        """Tell whether `get` fetches first."""
        ...


class FixedKeys:
    """Keys that never change."""

    def __init__(self, jwks: Mapping[str, Any]) -> None:
        self._keys = _read(jwks.get("keys", ()))

    def get(self, kid: object) -> PublicKey:
        return _find(self._keys, kid)

    def is_due(self, kid: object) -> bool:
        return False


class FetchedKeys:
    """Keys of a JWKS. Only one thread fetches; the others wait for it. A fetch that fails keeps the old keys."""

    def __init__(
        self, url: str, *, ca: bytes | None = None, clock: Callable[[], float] = time.monotonic, http: Any = None
    ) -> None:
        check_url("jwks_url", url)
        self._url, self._clock = url, clock
        self._http: httpx.Client = http or httpx.Client(
            timeout=None,
            limits=httpx.Limits(max_keepalive_connections=0),
            # Certificates take a while to load.
            verify=url.startswith("https:") and http_trust(ca),
        )
        self._fetching = threading.Lock()
        self._keys: Mapping[str, PublicKey] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._failure: Exception | None = None

    def get(self, kid: object) -> PublicKey:
        if self.is_due(kid):
            with self._fetching:
                # Another thread may have fetched them meanwhile.
                if self.is_due(kid):
                    self._fetch()
        if self._clock() - self._fetched_at >= USABLE_SECONDS:
            raise AdmissionRefused("KEYS_UNAVAILABLE") from self._failure
        return _find(self._keys, kid)

    def is_due(self, kid: object) -> bool:
        now = self._clock()
        is_here = isinstance(kid, str) and kid in self._keys and now - self._fetched_at < FRESH_SECONDS
        return not is_here and now - self._tried_at >= COOLDOWN_SECONDS

    def _fetch(self) -> None:
        tried_at = self._clock()
        try:
            request = self._http.build_request("GET", self._url, headers={"accept": "application/json"})
            answer = io.send(self._http, request, _FETCH_SECONDS)
            found = (read_object(answer.content) or {}).get("keys")
            if answer.status_code != 200 or not isinstance(found, list):
                raise ValueError(f"the answer {answer.status_code} is not a JSON Web Key Set")
            self._keys, self._fetched_at = _read(found), tried_at
        except Exception as cause:
            self._failure = cause
        finally:
            # Last, so that threads that find it have waited for the keys.
            self._tried_at = tried_at


def keys_of(jwks: Mapping[str, Any] | None, jwks_url: str | None, ca: bytes | None) -> Keys:
    """Return where the keys come from. Raises `Invalid` unless it is one of both."""
    if jwks is not None and jwks_url is None:
        return FixedKeys(jwks)
    if jwks_url is None or jwks is not None:
        raise invalid("jwks_url", "or jwks must be given, and not both")
    return FetchedKeys(jwks_url, ca=ca)


def _read(jwks: Any) -> dict[str, PublicKey]:
    """Keys that are not public P-256 keys for signatures with a `kid` are ignored."""
    keys = ((jwk["kid"], _key(jwk)) for jwk in jwks if isinstance(jwk, Mapping) and isinstance(jwk.get("kid"), str))
    return {kid: key for kid, key in keys if key is not None}


def _key(jwk: Mapping[str, Any]) -> PublicKey | None:
    return read_key(jwk) if jwk.get("alg", "ES256") == "ES256" and jwk.get("use", "sig") == "sig" else None


def _find(keys: Mapping[str, PublicKey], kid: object) -> PublicKey:
    key = keys.get(kid) if isinstance(kid, str) else None
    if key is None:
        raise AdmissionRefused("TOKEN_UNKNOWN_KEY")
    return key
