"""Secrets do not get into logs."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from dataclasses import asdict

import pytest

from boxoffice import Boxoffice, Invalid, Secret, types

SECRET = Secret("svc_top")
DEVICE = types.DeviceCredential(id="d1", name="a", default_room="", rooms=[], publish=[])


def test_a_secret_shows_its_text_to_reveal_alone(caplog: pytest.LogCaptureFixture) -> None:
    minted = types.CreatedCredential(credential=SECRET, device_credential=DEVICE)
    logging.getLogger().error("%s %r %s", SECRET, SECRET, minted)
    shown = [str(SECRET), repr(SECRET), f"{SECRET}", f"{SECRET!r:>20}", repr(minted), str(asdict(minted)), caplog.text]
    for text in shown:
        assert "[hidden]" in text
        assert "top" not in text
    assert SECRET.reveal() == "svc_top"
    assert copy.deepcopy(SECRET) == SECRET
    assert not hasattr(SECRET, "__dict__")


def test_a_secret_is_not_written() -> None:
    with pytest.raises(TypeError, match="reveal"):
        pickle.dumps(SECRET)
    with pytest.raises(TypeError):
        json.dumps(SECRET)


def test_a_wrong_key_is_not_in_the_error() -> None:
    key = "svc_" + "top\n"
    with pytest.raises(Invalid, match="api_key") as caught:
        Boxoffice(url="https://boxoffice.example", api_key=key)
    assert "svc_top" not in "".join(traceback.format_exception(caught.value))


def test_the_options_of_a_client_do_not_show_the_key() -> None:
    client = Boxoffice(url="https://boxoffice.example", api_key="svc_top")
    assert "svc_top" not in repr(client._calls.options)
    client.close()
