# Made by scripts/make-python.ts from _async. Not to be edited.
"""The client for back ends: one object for everything that an API key may do."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx
from typing_extensions import Unpack

from boxoffice import types
from boxoffice._sync import io, services
from boxoffice._sync.calls import Calls
from boxoffice._sync.control import Control
from boxoffice._sync.rest import Rest
from boxoffice._kinds import Unauthenticated
from boxoffice._limits import Options, http_trust
from boxoffice.secret import Secret


class Boxoffice:
    """The client of one API key. Calls fail with `BoxofficeError`; it connects on the first one.

    It is a context manager, which closes it.
    """

    def __init__(
        self,
        *,
        url: str,
        api_key: Secret | str = "",
        control_url: str | None = None,
        tenant: str | None = None,
        timeout: float = 30.0,
        attempt_timeout: float = 10.0,
        retries: int = 4,
        ca: bytes | None = None,
    ) -> None:
        """Make a client. Raises `Invalid` for wrong options.

        Args:
            url: Address of the REST interface, such as `https://boxoffice.example`.
            api_key: A backend key, or a relay key for `usage.report` and `usage.look_up` alone. Signing up needs none.
            control_url: Address of the control plane, such as `https://control.example:443`, or `http://` without TLS.
                It may be left out if only REST is used.
            tenant: Id of the key's tenant. Default: looked up once, which fails for a suspended tenant.
            timeout: Seconds that a call may take, with all its attempts.
            attempt_timeout: Seconds that each attempt may take.
            retries: Attempts after the first, if a call may be repeated.
            ca: CA certificates in PEM, in place of the system's.
        """
        options = Options(
            url=url,
            control_url=control_url,
            api_key=api_key if isinstance(api_key, Secret) else Secret(api_key),
            tenant=tenant,
            timeout=timeout,
            attempt_timeout=attempt_timeout,
            retries=retries,
            ca=ca,
        )
        self._tenant = tenant
        self._looking_up = io.Lock()
        self._http = io.HttpClient(
            # Time limits are those of attempts.
            timeout=None,
            # The key must only be sent to the given host.
            follow_redirects=False,
            # A connection for each request: httpx would take what a broken proxy sent twice for the next answer.
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=http_trust(ca),
        )
        self._calls = Calls(options, self._release)
        self._rest = Rest(options, self._http, self._calls)
        self._control = Control(options, self._calls, self._find_tenant)
        self.rooms = services.Rooms(self._control)
        """Rooms and their events."""
        self.participants = services.Participants(self._control, self._rest)
        """Participants of rooms."""
        self.moderation = services.Moderation(self._control)
        """Kicks, bans, mutes."""
        self.tokens = services.Tokens(self._control)
        """Tokens for participants."""
        self.device_credentials = services.DeviceCredentials(self._control)
        """Credentials for devices without a back end."""
        self.watchdogs = services.Watchdogs(self._control)
        """Timers on conditions of rooms."""
        self.keys = services.Keys(self._rest)
        """API keys."""
        self.billing = services.Billing(self._rest)
        """Balance, ledger, payments."""
        self.usage = services.Usage(self._rest)
        """Reports of usage, and what was charged."""
        self.rates = services.Rates(self._rest)
        """Prices."""
        self.alerts = services.Alerts(self._rest)
        """Thresholds below which you are alerted."""
        self.budgets = services.Budgets(self._rest)
        """What may be spent at most."""
        self.webhooks = services.Webhooks(self._rest)
        """Endpoints that get events, and the events."""
        self.mail = services.Mail(self._rest)
        """Who gets mail."""
        self.audit = services.Audit(self._rest)
        """Who changed what."""

    def sign_up(self, **request: Unpack[types.SignUp]) -> types.SignedUp:
        """Create a tenant. `api_key` is its first backend key; no later answer has it.

        The request is never repeated: after `Unavailable`, `Timeout` or `Internal` a tenant may exist whose key is lost. The
        service accepts five signups an hour from one address, then fails with `RateLimited`.
        """
        return self._rest.call("POST /v1/signup", request, types.SignedUp)

    def close(self) -> None:
        """End the client: what follows events ends with `ClientClosed`, and later calls fail with it.

        Calls in progress still finish.
        """
        self._calls.close()

    def __enter__(self) -> Boxoffice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _release(self) -> None:
        self._control.close()
        io.close_http(self._http)

    def _find_tenant(self, seconds: float) -> str:
        """Looked up once, and again after a failure."""
        with io.holding(self._looking_up, seconds) as left:
            if self._tenant is None:
                try:
                    limits: Any = {"timeout": left, "attempt_timeout": left}
                    self._tenant = (self.billing.get(**limits)).tenant.id
                except Unauthenticated:
                    # REST refuses relay keys like unknown ones. The control plane distinguishes them, and checks the key
                    # before the tenant.
                    return ""
            return self._tenant
