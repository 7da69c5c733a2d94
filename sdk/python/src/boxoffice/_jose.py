"""Compact JWS with ES256, in the one encoding that it may have, and the keys of a set."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature


def encode_segment(octets: bytes) -> str:
    """Return the base64url text of bytes."""
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def decode_segment(text: str) -> bytes | None:
    """Return the bytes of a segment. Only the canonical encoding: otherwise there would be several texts for one."""
    try:
        octets = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return octets if encode_segment(octets) == text else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def read_object(octets: bytes | None) -> dict[str, Any] | None:
    """Return the JSON object of bytes; None if they are none."""
    try:
        value = json.loads((octets or b"").decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_key(jwk: Mapping[str, Any]) -> ec.EllipticCurvePublicKey | None:
    """Return a public P-256 key; None for another one."""
    if jwk.get("kty") != "EC" or jwk.get("crv") != "P-256" or "d" in jwk:
        return None
    x, y = (decode_segment(each) if isinstance(each, str) else None for each in (jwk.get("x"), jwk.get("y")))
    if x is None or y is None or len(x) != 32 or len(y) != 32:
        return None
    try:
        return ec.EllipticCurvePublicNumbers(
            int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1()
        ).public_key()
    except ValueError:
        # Its coordinates are not a point of the curve.
        return None


def is_signed(key: ec.EllipticCurvePublicKey, text: bytes, signature: bytes) -> bool:
    """Tell whether the signature, which is `r` and `s`, is that of the key."""
    if len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        key.verify(encode_dss_signature(r, s), text, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True
