"""Verification of webhooks. The conformance suite tries the vectors of docs/vectors with it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from boxoffice import WebhookRefused, verify_webhook

SECRET = "whsec_" + "AAAA" * 8


@pytest.mark.parametrize(("id", "body"), [("evb_\udc80", "{}"), ("evb_1", "\ud800")])
def test_texts_that_are_not_unicode_are_refused(id: str, body: str) -> None:
    headers = {"webhook-id": id, "webhook-timestamp": "1795000000", "webhook-signature": "v1,AAAA"}
    with pytest.raises(WebhookRefused) as caught:
        verify_webhook(SECRET, headers, body, now=datetime.fromtimestamp(1795000000, timezone.utc))
    assert caught.value.code == "BAD_SIGNATURE"
