"""Whether a participant may come in, decided without a request to the service.

docs/tokens.md explains the checks, their order and their codes.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NoReturn
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec

from boxoffice._jose import decode_segment, encode_segment, is_signed, read_key, read_object
from boxoffice.relay.errors import AdmissionRefused
from boxoffice.relay.keys import FixedKeys, Keys, keys_of
from boxoffice.types import Role

JWS_BYTES_MAX = 4096
LIFETIME_SECONDS_MAX = 900
SKEW_SECONDS_MAX = 60
"""How far the service's clock may be ahead of ours. Expiry has no such leeway."""
CHALLENGE_SECONDS = 60
CHALLENGES_MAX = 100_000
"""Beyond this many the oldest is dropped, so a flood of connections uses a bounded amount of memory."""

_REASONS = ("kicked", "banned", "closed", "ended", "watchdog", "credential_revoked")
_ROLES = ("host", "audience", "broadcast_audience")
_FINGERPRINT = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){31}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Revocations:
    """A snapshot of one tenant. Its lists are those of docs/tokens.md; times are seconds since 1970."""

    seq: int
    exp: int
    """From then on the snapshot is too old to admit participants."""
    epochs: Sequence[Sequence[Any]] = ()
    bans: Sequence[Sequence[Any]] = ()
    mutes: Sequence[Sequence[str]] = ()
    closed: Sequence[str] = ()
    credentials: Sequence[str] = ()
    reasons: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """The user of a token, its grant, and what a moderator has muted. It ends at `expires_at`."""

    tenant: str
    username: str
    room: str
    room_uid: str
    role: Role
    capabilities: list[str]
    """Rights that are not listed are denied."""
    rank: int
    epoch: int
    device_thumbprint: str
    issued_at: datetime
    expires_at: datetime
    token_id: str
    minted_by: str
    budgets: list[str]
    range_salt: str
    e2ee_required: bool
    mute_on_entry: bool
    muted: list[str]
    """Any of `audio`, `video`, `screen`, `data`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What a device presents, and what the relay knows about the connection."""

    token: str
    proof: str
    challenge: str
    """The challenge that was issued for this connection, from the relay's memory."""
    url: str
    """The address of this relay for devices, from the relay's settings; never from a request header."""
    dtls_fingerprint: str
    """SHA-256 of the device's DTLS certificate: 32 hex pairs with colons, from the DTLS connection."""
    method: str = "CONNECT"
    address: str | None = None
    """The device's IP address. Needed only if addresses are banned."""


class TokenVerifier:
    """Admits participants, or raises `AdmissionRefused`. It may be used by many threads.

    With `jwks_url`, a call may wait for keys, for 5 seconds at most. In an event loop, use `asyncio.to_thread`.
    """

    def __init__(
        self,
        *,
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        jwks: Mapping[str, Any] | None = None,
        ca: bytes | None = None,
        tenants: Collection[str] | None = None,
        rooms: Collection[str] | None = None,
        current_room_uid: Callable[[str, str], str | None] = lambda tenant, room: None,
        revocations: Callable[[str], Revocations | None] | None = None,
        admitted: Callable[[str], bool] = lambda tenant: True,
        budget_reached: Callable[[str, Sequence[str]], bool] = lambda tenant, budgets: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make a verifier. Raises `Invalid` for wrong options.

        Args:
            issuer: `iss` of the tokens: the base URL of the deployment.
            audience: `aud` of the tokens: `relay:` and the host of the deployment.
            jwks_url: Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`.
            jwks: The keys themselves, in place of `jwks_url`; nothing is fetched.
            ca: CA certificates in PEM, in place of the system's.
            tenants: Tenants that are served here. Default: all.
            rooms: Names of rooms that are served here. Default: all.
            current_room_uid: The uid of the room of a tenant that has the name now, if it is known.
            revocations: The newest snapshot of the tenant. None while there is none, which refuses all participants.
            admitted: Whether the tenant has credit for new sessions.
            budget_reached: Whether one of these budgets of the tenant is spent.
            clock: For tests: seconds since 1970.
        """
        self.issuer, self.audience, self._keys = issuer, audience, keys_of(jwks, jwks_url, ca)
        self.tenants, self.rooms = tenants, rooms
        self._current_room_uid, self._revocations = current_room_uid, revocations
        self._admitted, self._budget_reached, self._clock = admitted, budget_reached, clock
        self._lock = threading.Lock()
        # In the order of their issue, so the first is the oldest.
        self._challenges: dict[str, float] = {}

    def challenge(self) -> str:
        """Return a new challenge, to send to one device. It can be used once within 60 seconds."""
        challenge = encode_segment(secrets.token_bytes(32))
        now = time.monotonic()
        with self._lock:
            for old, expiry in list(self._challenges.items())[:2]:
                if expiry <= now or len(self._challenges) >= CHALLENGES_MAX:
                    del self._challenges[old]
            self._challenges[challenge] = now + CHALLENGE_SECONDS
        return challenge

    def verify(self, attempt: Attempt) -> Admission:
        """Admit a new participant."""
        admission = self._possession(attempt)
        if not self._admitted(admission.tenant) or self._budget_reached(admission.tenant, admission.budgets):
            raise AdmissionRefused("NOT_ADMITTED")
        return admission

    def renew(self, previous: Admission, attempt: Attempt) -> Admission:
        """Extend the stay of a participant: same user, room and device, with a new token and a new challenge.

        Running sessions continue without credit, so credit is not checked.
        """
        admission = self._possession(attempt)
        for name in ("tenant", "username", "room_uid", "device_thumbprint"):
            if getattr(previous, name) != getattr(admission, name):
                raise AdmissionRefused("RENEWAL_OTHER_PARTICIPANT")
        return admission

    def _possession(self, attempt: Attempt) -> Admission:
        """Checks 1 to 11, for both newcomers and renewals."""
        admission = self._token(attempt.token)
        self._served(admission)
        if self._revocations is not None:
            muted = check_revocations(
                self._revocations(admission.tenant), admission, now=self._clock(), address=attempt.address
            )
            admission.muted.extend(muted)
        fingerprint = _verify_proof(attempt, admission.device_thumbprint)
        with self._lock:
            expiry = self._challenges.pop(attempt.challenge, None)
        if expiry is None or time.monotonic() >= expiry:
            raise AdmissionRefused("CHALLENGE_UNUSABLE")
        if fingerprint != attempt.dtls_fingerprint.lower():
            raise AdmissionRefused("DTLS_OTHER_CERTIFICATE")
        return admission

    def _token(self, token: str) -> Admission:
        header = _header(token, "TOKEN", "participant+jwt", {"typ", "alg", "kid"})
        claims = _verified(token, self._keys.get(header["kid"]), "TOKEN")
        if claims.get("iss") != self.issuer:
            raise AdmissionRefused("TOKEN_WRONG_ISSUER")
        if claims.get("aud") != self.audience:
            raise AdmissionRefused("TOKEN_WRONG_AUDIENCE")
        issued, expires = _times(claims, self._clock())
        confirmation = claims.get("cnf")
        thumbprint = confirmation.get("jkt") if isinstance(confirmation, dict) and len(confirmation) == 1 else None
        if not isinstance(thumbprint, str) or not re.fullmatch(r"[A-Za-z0-9_-]{43}", thumbprint):
            raise AdmissionRefused("TOKEN_NOT_BOUND")
        policy = claims.get("policy", {})
        if not isinstance(policy, dict) or claims.get("role") not in _ROLES:
            raise AdmissionRefused("TOKEN_CLAIMS_INVALID")
        return Admission(
            tenant=_text(claims.get("tid")),
            username=_text(claims.get("sub")),
            room=_text(claims.get("room")),
            room_uid=_text(claims.get("rid")),
            role=claims["role"],
            capabilities=_texts(claims.get("cap")),
            rank=_whole(claims.get("rank")),
            epoch=_whole(claims.get("ep")),
            device_thumbprint=thumbprint,
            issued_at=datetime.fromtimestamp(issued, timezone.utc),
            expires_at=datetime.fromtimestamp(expires, timezone.utc),
            token_id=_text(claims.get("jti")),
            minted_by=_text(claims.get("key")),
            budgets=_texts(claims.get("bud", [])),
            range_salt=_text(claims.get("salt")),
            e2ee_required=_flag(policy.get("e2ee_required", False)),
            mute_on_entry=_flag(policy.get("mute_on_entry", False)),
            muted=[],
        )

    def _served(self, claims: Admission) -> None:
        if self.tenants is not None and claims.tenant not in self.tenants:
            raise AdmissionRefused("TENANT_NOT_SERVED")
        if self.rooms is not None and claims.room not in self.rooms:
            raise AdmissionRefused("ROOM_NOT_SERVED")
        if claims.room_uid != (self._current_room_uid(claims.tenant, claims.room) or claims.room_uid):
            raise AdmissionRefused("ROOM_NOT_CURRENT")


def _header(jws: object, what: str, typ: str, members: set[str]) -> dict[str, Any]:
    """Return the header of a JWS that is not verified yet."""
    if not isinstance(jws, str):
        raise AdmissionRefused(f"{what}_MALFORMED")
    if len(jws) > JWS_BYTES_MAX:
        raise AdmissionRefused(f"{what}_TOO_LARGE")
    segments = [decode_segment(each) for each in jws.split(".")]
    header = read_object(segments[0])
    if len(segments) != 3 or None in segments or header is None:
        raise AdmissionRefused(f"{what}_MALFORMED")
    if header.get("typ") != typ:
        raise AdmissionRefused(f"{what}_WRONG_TYPE")
    if header.get("alg") != "ES256":
        raise AdmissionRefused(f"{what}_WRONG_ALGORITHM")
    if set(header) != members:
        raise AdmissionRefused(f"{what}_HEADER_INVALID")
    return header


def _verified(jws: str, key: ec.EllipticCurvePublicKey, what: str) -> dict[str, Any]:
    """Return the claims of a JWS whose signature has been verified."""
    signed, _, signature = jws.rpartition(".")
    if not is_signed(key, signed.encode(), decode_segment(signature) or b""):
        raise AdmissionRefused(f"{what}_BAD_SIGNATURE")
    claims = read_object(decode_segment(signed.partition(".")[2]))
    if claims is None:
        raise AdmissionRefused(f"{what}_MALFORMED")
    return claims


def _times(claims: Mapping[str, Any], now: float) -> tuple[int, int]:
    iat, nbf, exp = (_whole(claims.get(each)) for each in ("iat", "nbf", "exp"))
    if now >= exp:
        raise AdmissionRefused("TOKEN_EXPIRED")
    if max(iat, nbf) > now + SKEW_SECONDS_MAX:
        raise AdmissionRefused("TOKEN_NOT_YET_VALID")
    if exp <= iat or exp - iat > LIFETIME_SECONDS_MAX:
        raise AdmissionRefused("TOKEN_LIVES_TOO_LONG")
    return iat, exp


def _text(value: object) -> str:
    if not isinstance(value, str) or value == "":
        raise AdmissionRefused("TOKEN_CLAIMS_INVALID")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise AdmissionRefused("TOKEN_CLAIMS_INVALID")
    return [_text(each) for each in value]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _is_whole(value: Any) -> bool:
    return _is_integer(value) and value >= 0


def _whole(value: Any) -> int:
    if not _is_whole(value):
        raise AdmissionRefused("TOKEN_CLAIMS_INVALID")
    return int(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise AdmissionRefused("TOKEN_CLAIMS_INVALID")
    return value


def _verify_proof(attempt: Attempt, thumbprint: str) -> str:
    """Return the fingerprint of the DTLS certificate that the device claims as its own. Checks 8 and 9."""
    jwk = _header(attempt.proof, "PROOF", "dpop+jwt", {"typ", "alg", "jwk"})["jwk"]
    key = read_key(jwk) if isinstance(jwk, dict) and set(jwk) == {"kty", "crv", "x", "y"} else None
    if key is None:
        raise AdmissionRefused("PROOF_KEY_INVALID")
    claims = _verified(attempt.proof, key, "PROOF")
    fingerprint, jti = claims.get("dtls_fp"), claims.get("jti")
    is_well_formed = isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint)
    if not is_well_formed or not _is_text(jti) or not _is_integer(claims.get("iat")):
        raise AdmissionRefused("PROOF_CLAIMS_INVALID")
    if claims.get("htm") != attempt.method:
        raise AdmissionRefused("PROOF_OTHER_METHOD")
    target = _target(claims.get("htu"))
    if target is None or target != _target(attempt.url):
        raise AdmissionRefused("PROOF_OTHER_URL")
    if claims.get("ath") != encode_segment(hashlib.sha256(attempt.token.encode()).digest()):
        raise AdmissionRefused("PROOF_OTHER_TOKEN")
    if claims.get("nonce") != attempt.challenge:
        raise AdmissionRefused("PROOF_OTHER_CHALLENGE")
    canonical = f'{{"crv":"P-256","kty":"EC","x":"{jwk["x"]}","y":"{jwk["y"]}"}}'
    if encode_segment(hashlib.sha256(canonical.encode()).digest()) != thumbprint:
        raise AdmissionRefused("PROOF_OTHER_DEVICE")
    return str(fingerprint)


def _target(given: object) -> tuple[object, ...] | None:
    """The parts of a URL that count: without query and fragment (RFC 9449, 4.2 and 4.3)."""
    if not isinstance(given, str):
        return None
    try:
        parts = urlsplit(given)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    user = parts.netloc.rpartition("@")[0]
    return (parts.scheme, user, parts.hostname, port, parts.path or "/") if parts.hostname else None


def hash_of(*parts: str) -> str:
    """Return the hash of a user, a device, a room or a range, by its purpose and where it counts."""
    return encode_segment(hashlib.sha256("\0".join(parts).encode()).digest()[:16])


def check_revocations(
    revocations: Revocations | None, subject: Admission, *, now: float | None = None, address: str | None = None
) -> list[str]:
    """Refuse a participant to whom the revocations apply. Return what the participant may not publish.

    For new tokens, and for running sessions with every new snapshot. `now` is for tests.
    """
    now = time.time() if now is None else now
    if revocations is None or now >= revocations.exp:
        raise AdmissionRefused("REVOCATIONS_STALE")
    room = hash_of("room", subject.room_uid)
    if room in revocations.closed:
        raise AdmissionRefused("ROOM_CLOSED", _reason(revocations, room))
    of_epoch = hash_of("epoch", subject.room_uid, subject.username)
    for user, epoch in revocations.epochs:
        if user == of_epoch and subject.epoch < epoch:
            raise AdmissionRefused("TOKEN_REVOKED", _reason(revocations, user))
    if hash_of("credential", subject.tenant, subject.minted_by) in revocations.credentials:
        raise AdmissionRefused("TOKEN_REVOKED", "credential_revoked")
    scopes = {"*": (subject.tenant, subject.range_salt), room: (subject.room_uid, subject.room_uid)}
    for scope, kind, value, until in revocations.bans:
        if scope not in scopes or (until is not None and now >= until):
            continue
        inside, salt = scopes[scope]
        names = {"user": subject.username, "device": subject.device_thumbprint}
        is_meant = _is_in(value, salt, address) if kind == "range" else value == hash_of(kind, inside, names[kind])
        if is_meant:
            raise AdmissionRefused("BANNED", "banned")
    of_mute = hash_of("mute", subject.room_uid, subject.username)
    return [medium for user, *media in revocations.mutes if user == of_mute for medium in media]


def _reason(revocations: Revocations, user_or_room: str) -> str | None:
    found = next((reason for key, reason in revocations.reasons if key == user_or_room), None)
    return found if found in _REASONS else None


def _is_in(banned: str, salt: str, address: str | None) -> bool:
    """Whether the address is in a banned range, given its prefix and hash."""
    try:
        given = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        raise AdmissionRefused("ADDRESS_UNKNOWN") from None
    mapped = given.ipv4_mapped if isinstance(given, ipaddress.IPv6Address) else None
    octets = (mapped or given).packed
    bits, _, hashed = banned.partition("/")
    left = 8 * len(octets) - int(bits)
    if left < 0:
        return False
    network = (int.from_bytes(octets, "big") >> left << left).to_bytes(len(octets), "big").hex()
    return hash_of("range", salt, f"{network}/{bits}") == hashed


def verify_revocations(
    jws: str,
    *,
    issuer: str,
    audience: str,
    tenant: str,
    jwks: Mapping[str, Any],
    clock: Callable[[], float] = time.time,
) -> Revocations:
    """Return the snapshot that `/v1/revocations/` and the tenant answers. Raises `ValueError` if it is none.

    Entries of an unknown shape are an error: a revocation that is ignored would not be enforced. Other members only
    explain, and are ignored.
    """
    keys = FixedKeys(jwks)
    return verify_snapshot(jws, issuer=issuer, audience=audience, tenant=tenant, keys=keys, now=clock())


def snapshot_header(jws: str) -> dict[str, Any]:
    """Return the header of a snapshot that is not verified yet; empty if it has none."""
    return read_object(decode_segment(jws.partition(".")[0])) or {}


def verify_snapshot(jws: str, *, issuer: str, audience: str, tenant: str, keys: Keys, now: float) -> Revocations:
    """Do what `verify_revocations` does, with keys that may be fetched."""
    header = snapshot_header(jws)
    if set(header) != {"typ", "alg", "kid"} or header["typ"] != "revocations+jwt" or header["alg"] != "ES256":
        _invalid("header")
    try:
        claims = _verified(jws, keys.get(header["kid"]), "TOKEN")
    except AdmissionRefused as cause:
        raise ValueError(f"the snapshot is not valid: {cause.code}") from None
    for name, expected in {"iss": issuer, "aud": audience, "tid": tenant}.items():
        if claims.get(name) != expected:
            _invalid(name)
    if not _is_whole(claims.get("seq")):
        _invalid("seq")
    if not _is_whole(claims.get("exp")) or claims["exp"] <= now:
        _invalid("exp")
    # Earlier versions of the service give neither credentials nor reasons.
    lists = {"credentials": [], "reasons": [], **claims}
    for name, is_one in _ENTRIES.items():
        if not isinstance(lists.get(name), list) or not all(is_one(each) for each in lists[name]):
            _invalid(name)
    return Revocations(seq=claims["seq"], exp=claims["exp"], **{name: lists[name] for name in _ENTRIES})


def _invalid(what: str) -> NoReturn:
    raise ValueError(f"the snapshot is not valid: {what}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: object, counts: Iterable[int]) -> bool:
    return isinstance(value, list) and len(value) in counts and all(_is_text(each) for each in value)


def _is_epoch(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and _is_text(entry[0]) and _is_whole(entry[1])


def _is_ban(entry: object) -> bool:
    if not isinstance(entry, list) or len(entry) != 4 or not _is_text(entry[0]) or not _is_text(entry[2]):
        return False
    if entry[3] is not None and not _is_whole(entry[3]):
        return False
    is_range = re.fullmatch(r"[1-9][0-9]{0,2}/[A-Za-z0-9_-]{22}", entry[2])
    return entry[1] in ("user", "device") or (entry[1] == "range" and is_range is not None)


_ENTRIES: Mapping[str, Callable[[object], bool]] = {
    "epochs": _is_epoch,
    "bans": _is_ban,
    "mutes": lambda entry: _are_texts(entry, range(2, 100)),
    "closed": _is_text,
    "credentials": _is_text,
    "reasons": lambda entry: _are_texts(entry, (2,)),
}
