# Made by scripts/make-python.ts from _async. Not to be edited.
"""What the client can do, by subject."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from datetime import datetime
from typing import Any

from typing_extensions import Unpack

from boxoffice import types
from boxoffice._sync import io
from boxoffice._sync.calls import Listing
from boxoffice._sync.control import SILENCE, Control
from boxoffice._sync.rest import Rest
from boxoffice._failures import invalid
from boxoffice._limits import is_transient_rest, split, wait_after
from boxoffice.errors import BoxofficeError
from boxoffice.types import WatchedEvent, WebhookEvent

_log = logging.getLogger("boxoffice")

_LIST_EVENTS_PATIENCE = {"timeout": 80.0, "attempt_timeout": 40.0}
"""The service waits for events for 30 seconds at most."""

_PULL_SECONDS_MAX = 20
"""The longest wait for events that the service allows."""

_ANSWER_SECONDS = 15.0
"""For the answer, in addition to the wait."""

_SEND_LIMITS = {"timeout": 60.0, "attempt_timeout": 20.0}
"""The service waits 10 seconds for the receiver."""


class _OverControl:
    def __init__(self, control: Control) -> None:
        self._control = control


class _OverRest:
    def __init__(self, rest: Rest) -> None:
        self._rest = rest


class Rooms(_OverControl):
    """Rooms. Later rooms may reuse a name; a `uid` is never reused."""

    def create(self, **request: Unpack[types.CreateRoom]) -> types.Room:
        """Create a room, live at once. Fails with `Exists` while a live room has the name."""
        return self._control.mutate("RoomService.CreateRoom", request, types.Room, "room")

    def get(self, **request: Unpack[types.GetRoom]) -> types.Room:
        """Read a room, live or ended."""
        return self._control.query("RoomService.GetRoom", request, types.Room, "room")

    def list(self, **request: Unpack[types.ListRooms]) -> Listing[types.Room]:
        """Rooms, newest first."""
        return self._control.pages("RoomService.ListRooms", request, "rooms", types.Room)

    def update_policy(self, **request: Unpack[types.UpdateRoomPolicy]) -> types.Room:
        """Change the rules of a live room that `policy` names."""
        given = {**request, "update_mask": {"paths": _changed("policy", request["policy"])}}
        return self._control.mutate("RoomService.UpdateRoomPolicy", given, types.Room, "room")

    def end(self, **request: Unpack[types.EndRoom]) -> types.Room:
        """End a room: its participants leave and its tokens become void. Fails with `Closed` if it has ended."""
        return self._control.mutate("RoomService.EndRoom", request, types.Room, "room")

    def watch(
        self, *, silence: float = SILENCE, **request: Unpack[types.WatchEvents]
    ) -> Generator[WatchedEvent, None, None]:
        """Follow all events for ever, across lost connections and restarts of the service.

        It begins with a snapshot, or after the event whose `resume_token` is given. After `silence`, in seconds, it reopens the
        stream; bookmarks come at least every 15 seconds.
        """
        return self._control.watch("RoomService.WatchEvents", request, silence)

    def list_events(self, **request: Unpack[types.ListEvents]) -> types.ListedEvents:
        """Read events, and wait up to `wait` if there are none."""
        limits = _LIST_EVENTS_PATIENCE if request.get("wait") else {}
        given = {**limits, **request}
        return self._control.query("RoomService.ListEvents", given, types.ListedEvents)


class Participants(_OverControl, _OverRest):
    """Participants. A user is present until the last token has expired or is void."""

    def __init__(self, control: Control, rest: Rest) -> None:
        self._control = control
        self._rest = rest

    def get(self, **request: Unpack[types.GetParticipant]) -> types.Participant:
        """Read a user of a room, present or not."""
        return self._control.query("ParticipantService.GetParticipant", request, types.Participant, "participant")

    def list(self, **request: Unpack[types.ListParticipants]) -> Listing[types.Participant]:
        """The users of a room, by name; with `include_left`, also those who have left."""
        return self._control.pages("ParticipantService.ListParticipants", request, "participants", types.Participant)

    def watch(
        self, *, silence: float = SILENCE, **request: Unpack[types.WatchParticipants]
    ) -> Generator[WatchedEvent, None, None]:
        """Follow participants as they enter, change and leave, like `rooms.watch`."""
        return self._control.watch("ParticipantService.WatchParticipants", request, silence)

    def erase(self, **request: Unpack[types.EraseParticipant]) -> types.Erasure:
        """Erase the name of a person from everything that is stored.

        It cannot be undone, and takes a while: ask for `erasure` until it is `done`. Fails with `Precondition` while the person
        is in a room.
        """
        return self._rest.field("POST /v1/participants/erase", request, "erasure", types.Erasure)

    def erasure(self, **request: Unpack[types.GetErasure]) -> types.Erasure:
        """How far an erasure is."""
        return self._rest.field("GET /v1/erasures/{id}", request, "erasure", types.Erasure)


class Moderation(_OverControl):
    """Moderation of rooms. It never needs credit.

    With an `actor`, that participant acts, and needs the capability and a higher rank. Without one, the tenant acts.
    """

    def kick(self, **request: Unpack[types.KickParticipant]) -> types.Moderated:
        """Make a user leave: all the user's tokens for the room become void. New ones may be minted."""
        return self._control.mutate("ModerationService.KickParticipant", request, types.Moderated)

    def ban(self, **request: Unpack[types.BanSubject]) -> types.Banned:
        """Keep a user, a device or a range of addresses out of a room or, without `room`, out of all rooms."""
        return self._control.mutate("ModerationService.BanSubject", request, types.Banned)

    def unban(self, **request: Unpack[types.UnbanSubject]) -> types.Banned:
        """Lift a ban."""
        return self._control.mutate("ModerationService.UnbanSubject", request, types.Banned)

    def list_bans(self, **request: Unpack[types.ListBans]) -> Listing[types.Ban]:
        """Current bans, newest first."""
        return self._control.pages("ModerationService.ListBans", request, "bans", types.Ban)

    def force_mute(self, **request: Unpack[types.ForceMute]) -> types.Moderated:
        """Stop forwarding tracks of a user. The user cannot undo it."""
        return self._control.mutate("ModerationService.ForceMute", request, types.Moderated)

    def release_mute(self, **request: Unpack[types.ReleaseMute]) -> types.Moderated:
        """Let a user unmute. It does not unmute the tracks."""
        return self._control.mutate("ModerationService.ReleaseMute", request, types.Moderated)

    def revoke_publish(self, **request: Unpack[types.RevokePublish]) -> types.Moderated:
        """Take the right to publish tracks from a user."""
        return self._control.mutate("ModerationService.RevokePublish", request, types.Moderated)

    def restore_publish(self, **request: Unpack[types.RestorePublish]) -> types.Moderated:
        """Return the right to publish. It is in the user's next token."""
        return self._control.mutate("ModerationService.RestorePublish", request, types.Moderated)

    def close_room(self, **request: Unpack[types.CloseRoom]) -> types.ClosedRoom:
        """End a room as a moderator: like `rooms.end`, but recorded."""
        return self._control.mutate("ModerationService.CloseRoom", request, types.ClosedRoom)

    def list_events(self, **request: Unpack[types.ListModerationEvents]) -> Listing[types.ModerationEvent]:
        """Moderation events, newest first."""
        return self._control.pages("ModerationService.ListModerationEvents", request, "events", types.ModerationEvent)


class Tokens(_OverControl):
    """Tokens for participants."""

    def mint(self, **request: Unpack[types.MintClientToken]) -> types.MintedToken:
        """Mint a token for one user, on one device, in one live room.

        A repeated attempt mints another token, which is harmless.
        """
        return self._control.query("TokenService.MintClientToken", request, types.MintedToken)


class DeviceCredentials(_OverControl):
    """Credentials for devices without a back end."""

    def create(self, **request: Unpack[types.CreateDeviceCredential]) -> types.CreatedCredential:
        """Create one. `credential` is the secret that the device presents; no later answer has it."""
        return self._control.mutate("TokenService.CreateDeviceCredential", request, types.CreatedCredential)

    def list(self, **request: Unpack[types.ListDeviceCredentials]) -> Listing[types.DeviceCredential]:
        """All of them, oldest first, including revoked ones."""
        return self._control.pages(
            "TokenService.ListDeviceCredentials", request, "device_credentials", types.DeviceCredential
        )

    def rotate(self, **request: Unpack[types.RotateDeviceCredential]) -> types.RotatedCredential:
        """Replace one. The old one works on for `overlap`, by default a day."""
        return self._control.mutate("TokenService.RotateDeviceCredential", request, types.RotatedCredential)

    def revoke(self, **request: Unpack[types.RevokeDeviceCredential]) -> types.DeviceCredential:
        """Revoke one at once. Relays end the sessions that it opened."""
        return self._control.mutate(
            "TokenService.RevokeDeviceCredential", request, types.DeviceCredential, "device_credential"
        )


class Watchdogs(_OverControl):
    """Timers on conditions of rooms."""

    def create(self, **request: Unpack[types.CreateWatchdog]) -> types.Watchdog:
        """Arm a watchdog on a live room, with one condition."""
        return self._change("WatchdogService.CreateWatchdog", {**request}, {})

    def get(self, **request: Unpack[types.GetWatchdog]) -> types.Watchdog:
        """Read a watchdog, including one that has fired."""
        return self._control.query("WatchdogService.GetWatchdog", request, types.Watchdog, "watchdog")

    def list(self, **request: Unpack[types.ListWatchdogs]) -> Listing[types.Watchdog]:
        """Watchdogs, newest first."""
        return self._control.pages("WatchdogService.ListWatchdogs", request, "watchdogs", types.Watchdog)

    def update(self, **request: Unpack[types.UpdateWatchdog]) -> types.Watchdog:
        """Change the given fields of a watchdog, and arm it again. The kind of its condition cannot change."""
        changes = {name: value for name, value in split(request)[0].items() if name not in ("id", "actor")}
        mask = {"update_mask": {"paths": _changed("watchdog", changes)}}
        return self._change("WatchdogService.UpdateWatchdog", {**request}, mask)

    def delete(self, **request: Unpack[types.DeleteWatchdog]) -> None:
        """Delete a watchdog that has not fired."""
        self._control.mutate("WatchdogService.DeleteWatchdog", request, types.Nothing)

    def _change(self, name: str, request: dict[str, Any], mask: dict[str, Any]) -> types.Watchdog:
        watchdog, options = split(request)
        given = {"watchdog": watchdog, "actor": watchdog.pop("actor", None), **mask, **options}
        return self._control.mutate(name, given, types.Watchdog, "watchdog")


class Keys(_OverRest):
    """API keys of the tenant."""

    def list(self, **options: Unpack[types.CallOptions]) -> list[types.Key]:
        """All keys, oldest first, including revoked ones. One request for each 500 keys."""
        every = self._rest.pages("GET /v1/keys", options, "keys", types.Key)
        return [key for key in every]

    def create(self, **request: Unpack[types.CreateKey]) -> types.CreatedKey:
        """Create a key. Only this answer has `api_key`.

        For 24 hours, a call with the same idempotency key gets it again.
        """
        return self._rest.call("POST /v1/keys", request, types.CreatedKey)

    def rotate(self, **request: Unpack[types.RotateKey]) -> types.RotatedKey:
        """Replace a key. The old one works on for `overlap_seconds`, by default a day."""
        return self._rest.call("POST /v1/keys/{id}/rotate", request, types.RotatedKey)

    def revoke(self, **request: Unpack[types.RevokeKey]) -> None:
        """Revoke a key at once.

        The last working key of its kind is refused with the reason `WOULD_STOP_SERVICE`, unless `confirm` is `stop-service`.
        """
        self._rest.send("DELETE /v1/keys/{id}", request)


class Billing(_OverRest):
    """Credit and charges. Amounts are integers of micros: millionths of a US dollar."""

    def get(self, **request: Unpack[types.CallOptions]) -> types.Account:
        """The tenant, its balance, and its newest ledger entries."""
        return self._rest.call("GET /v1/billing", request, types.Account)

    def runway(self, **request: Unpack[types.GetRunway]) -> types.Runway:
        """How long the credit lasts at the rate of the last hour, day and week, and which rooms use most of it."""
        return self._rest.call("GET /v1/billing/runway", request, types.Runway)

    def ledger(self, **request: Unpack[types.ListLedger]) -> Listing[types.LedgerEntry]:
        """All entries of the ledger, newest first: one for each usage record and each other change."""
        given = {**request, "kind": request.get("kinds"), "kinds": None}
        return self._rest.pages("GET /v1/ledger", given, "entries", types.LedgerEntry)

    def statements(self, **request: Unpack[types.CallOptions]) -> list[types.ListedStatement]:
        """The months in which the balance changed and that are over, newest first."""
        return self._rest.items("GET /v1/statements", request, "statements", types.ListedStatement)

    def statement(self, **request: Unpack[types.GetStatement]) -> types.SignedStatement:
        """The statement of a month such as `2026-10`, UTC, also signed.

        Fails with `Precondition` until the month is over, unless `so_far` is set, and with `NotFound` for one before the signup.
        """
        return self._rest.call("GET /v1/statements/{month}", request, types.SignedStatement)

    def details(self, **request: Unpack[types.CallOptions]) -> types.BillingDetails:
        """The tenant's name, address and tax id, as statements show them from now on."""
        return self._rest.call("GET /v1/billing/details", request, types.BillingDetails)

    def set_details(self, **request: Unpack[types.SetBillingDetails]) -> types.BillingDetails:
        """Replace name, address and tax id. Statements of months that are over keep those that they had."""
        return self._rest.call("PUT /v1/billing/details", request, types.BillingDetails)

    def time_zone(self, **request: Unpack[types.CallOptions]) -> types.TimeZone:
        """Where the tenant's days and months begin."""
        return self._rest.call("GET /v1/billing/time-zone", request, types.TimeZone)

    def set_time_zone(self, **request: Unpack[types.SetTimeZone]) -> types.TimeZone:
        """Set it by an IANA name, from the next month on or, before the first usage, from this one on.

        Months before keep theirs.
        """
        return self._rest.call("PUT /v1/billing/time-zone", request, types.TimeZone)

    def payments(self, **request: Unpack[types.ListPayments]) -> Listing[types.Payment]:
        """Payments that were credited, newest first: checkouts and automatic top-ups."""
        return self._rest.pages("GET /v1/payments", request, "payments", types.Payment)

    def grants(self, **request: Unpack[types.ListGrants]) -> Listing[types.Grant]:
        """Credit that the operator granted, newest first, with what is left of each grant."""
        return self._rest.pages("GET /v1/grants", request, "grants", types.Grant)

    def receipt(self, **request: Unpack[types.GetReceipt]) -> types.Receipt:
        """The provider's receipt of a payment."""
        return self._rest.call("GET /v1/payments/{id}/receipt", request, types.Receipt)

    def checkout(self, **request: Unpack[types.Checkout]) -> types.CheckoutPage:
        """Open a payment page for credit: 1000 to 1000000 cents."""
        return self._rest.call("POST /v1/billing/checkout", request, types.CheckoutPage)

    def portal(self, **request: Unpack[types.MutationOptions]) -> types.PortalPage:
        """Open the portal for receipts and saved cards."""
        return self._rest.call("POST /v1/billing/portal", request, types.PortalPage)

    def set_auto_top_up(self, **request: Unpack[types.SetAutoTopUp]) -> types.Tenant:
        """Charge the saved card whenever the balance falls below a threshold, or turn that off."""
        return self._rest.call("PUT /v1/billing/auto-top-up", request, types.Tenant)


class Usage(_OverRest):
    """Reports of usage, and what was charged for it. `report` and `look_up` take a relay key."""

    def report(self, **request: Unpack[types.ReportUsage]) -> types.ChargedUsage:
        """Charge usage: at most 5000 records, all or none. It takes a relay key.

        The request is retried, and may be repeated: an id is never charged twice.
        """
        return self._rest.call("POST /v1/usage", request, types.ChargedUsage)

    def look_up(self, **request: Unpack[types.LookUpUsage]) -> list[types.LookedUpRecord]:
        """Which ids were charged, in their order: at most 5000. It takes a relay key, and changes nothing."""
        return self._rest.items("POST /v1/usage/lookup", request, "records", types.LookedUpRecord)

    def records(self, **request: Unpack[types.ListUsageRecords]) -> Listing[types.ChargedRecord]:
        """Usage records as they were charged, newest first."""
        return self._rest.pages("GET /v1/usage/records", request, "records", types.ChargedRecord)

    def sessions(self, **request: Unpack[types.ListSessions]) -> Listing[types.Session]:
        """Sessions of participants, those that began last first."""
        return self._rest.pages("GET /v1/sessions", request, "sessions", types.Session)

    def session(self, **request: Unpack[types.GetSession]) -> types.ShownSession:
        """One session, with its newest records. Fails with `NotFound` if there is none."""
        return self._rest.call("GET /v1/sessions/{id}", request, types.ShownSession)

    def room_cost(self, **request: Unpack[types.GetRoomCost]) -> types.RoomCost:
        """What a room cost, by its uid. Fails with `NotFound` if there is none."""
        return self._rest.call("GET /v1/rooms/{uid}/cost", request, types.RoomCost)

    def conflicts(self, **request: Unpack[types.ListUsageConflicts]) -> Listing[types.UsageConflict]:
        """Ids that were reported again with other values, newest report first. The others are not charged."""
        return self._rest.pages("GET /v1/usage/conflicts", request, "conflicts", types.UsageConflict)

    def summary(self, **request: Unpack[types.SummarizeUsage]) -> types.UsageSummary:
        """Sums of usage over a period of at most 366 days.

        By hour, day or month, rows are in the order of time; otherwise the most expensive come first. `sum` is that of all rows,
        and of what is `unassigned` to sessions, on every page. While there is a `next_cursor`, there are more rows.
        """
        return self._rest.call("GET /v1/usage/summary", request, types.UsageSummary)

    def explain(self, **request: Unpack[types.ExplainUsage]) -> types.ExplainedUsage:
        """How the charge of a record came about, step by step. Fails with `NotFound` if it was not charged."""
        return self._rest.call("GET /v1/usage/{id}/explain", request, types.ExplainedUsage)


class Rates(_OverRest):
    """Prices of usage."""

    def get(self, **request: Unpack[types.CallOptions]) -> types.RateCard:
        """The rate card in effect."""
        return self._rest.call("GET /v1/rates", request, types.RateCard)

    def simulate(self, **request: Unpack[types.SimulateRoom]) -> types.Simulation:
        """Price a room that you make up, as if a relay reported it now. Nothing is charged."""
        return self._rest.call("POST /v1/rates/simulate", request, types.Simulation)


class Alerts(_OverRest):
    """Thresholds below which the tenant is alerted."""

    def get(self, **request: Unpack[types.CallOptions]) -> list[types.ThresholdStatus]:
        """All thresholds; none until they are set."""
        return self._rest.items("GET /v1/alerts", request, "thresholds", types.ThresholdStatus)

    def set(self, **request: Unpack[types.SetAlerts]) -> list[types.ThresholdStatus]:
        """Replace all thresholds, ten at most.

        One that was set before stays as it is. A new one is raised at once if the balance is below it.
        """
        return self._rest.items("PUT /v1/alerts", request, "thresholds", types.ThresholdStatus)


class Budgets(_OverRest):
    """What may be spent at most."""

    def get(self, **request: Unpack[types.GetBudget]) -> types.Budget:
        """One budget."""
        return self._rest.call("GET /v1/budgets/{id}", request, types.Budget)

    def set(self, **request: Unpack[types.SetBudget]) -> types.Budget:
        """Make a budget, or change its limit, its kind and its percentages. It is in force with the next token.

        Of one that exists, what it is of and its period cannot be changed.
        """
        return self._rest.call("PUT /v1/budgets/{id}", request, types.Budget)

    def delete(self, **request: Unpack[types.DeleteBudget]) -> None:
        """Delete a budget: with the next token, it refuses nothing more."""
        self._rest.send("DELETE /v1/budgets/{id}", request)

    def list(self, **request: Unpack[types.CallOptions]) -> list[types.Budget]:
        """All budgets, in the order of their ids."""
        return self._rest.items("GET /v1/budgets", request, "budgets", types.Budget)


class Mail(_OverRest):
    """Who gets mail about the tenant."""

    def get(self, **request: Unpack[types.CallOptions]) -> types.MailSettings:
        """The settings. Until they are set, the address given at signup gets alerts and receipts."""
        return self._rest.call("GET /v1/mail", request, types.MailSettings)

    def set(self, **request: Unpack[types.SetMailSettings]) -> types.MailSettings:
        """Replace all settings."""
        return self._rest.call("PUT /v1/mail", request, types.MailSettings)


class Audit(_OverRest):
    """The audit trail."""

    def list(self, **request: Unpack[types.ListAudit]) -> Listing[types.AuditEntry]:
        """Changes of what is administered, newest first."""
        return self._rest.pages("GET /v1/audit", request, "entries", types.AuditEntry)


class Webhooks(_OverRest):
    """Webhooks, their deliveries, and the events that they get."""

    def create(self, **request: Unpack[types.CreateWebhook]) -> types.CreatedWebhook:
        """Create a webhook: it gets what happens from then on. Only this answer has `secret`.

        For 24 hours, a call with the same idempotency key gets it again.
        """
        return self._rest.call("POST /v1/webhooks", request, types.CreatedWebhook)

    def get(self, **request: Unpack[types.GetWebhook]) -> types.Webhook:
        """Read a webhook: its settings, and how far its deliveries are."""
        return self._rest.call("GET /v1/webhooks/{id}", request, types.Webhook)

    def change(self, **request: Unpack[types.ChangeWebhook]) -> types.Webhook:
        """Change, pause or resume a webhook. What is left out keeps its value."""
        return self._rest.call("PATCH /v1/webhooks/{id}", request, types.Webhook)

    def delete(self, **request: Unpack[types.DeleteWebhook]) -> None:
        """Delete a webhook. A request that is under way may still arrive."""
        self._rest.send("DELETE /v1/webhooks/{id}", request)

    def rotate_secret(self, **request: Unpack[types.RotateWebhookSecret]) -> types.RotatedWebhookSecret:
        """Replace the secret. The old ones sign too for `overlap_seconds`, by default a day."""
        return self._rest.call("POST /v1/webhooks/{id}/rotate", request, types.RotatedWebhookSecret)

    def test(self, **request: Unpack[types.TestWebhook]) -> types.WebhookDelivery:
        """Send the event `webhook_test` now, once. The answer says what became of it."""
        given = {**_SEND_LIMITS, **request}
        return self._rest.field("POST /v1/webhooks/{id}/test", given, "delivery", types.WebhookDelivery)

    def deliveries(self, **request: Unpack[types.ListDeliveries]) -> Listing[types.WebhookDelivery]:
        """Attempts to send events to a webhook, newest first.

        They are kept for 7 days, or longer if the deployment says so.
        """
        return self._rest.pages("GET /v1/webhooks/{id}/deliveries", request, "deliveries", types.WebhookDelivery)

    def resend(self, *, id: str, seq: int, **options: Unpack[types.MutationOptions]) -> types.WebhookDelivery:
        """Send one event again now, once. The answer says what became of it."""
        given = {**_SEND_LIMITS, **options, "id": id, "seq": seq}
        return self._rest.field("POST /v1/webhooks/{id}/resend", given, "delivery", types.WebhookDelivery)

    def resend_since(
        self, *, id: str, since: datetime, **options: Unpack[types.MutationOptions]
    ) -> types.Webhook:
        """Send all wanted events since a time again, in order. The webhook never goes forward."""
        given = {**options, "id": id, "since": since}
        return self._rest.field("POST /v1/webhooks/{id}/resend", given, "webhook", types.Webhook)

    def resend_failed(
        self, *, id: str, since: datetime, **options: Unpack[types.MutationOptions]
    ) -> types.ResentEvents:
        """Send again what was given up since a time, put aside; what is put aside and has failed is tried at once.

        The webhook does not go back.
        """
        given = {**options, "id": id, "since": since, "only_failed": True}
        return self._rest.call("POST /v1/webhooks/{id}/resend", given, types.ResentEvents)

    def dead_letters(self, **request: Unpack[types.ListDeadLetters]) -> Listing[types.DeadLetter]:
        """Events that were given up and not sent again since, newest first."""
        return self._rest.pages("GET /v1/webhooks/{id}/dead-letters", request, "dead_letters", types.DeadLetter)

    def pull_events(self, **request: Unpack[types.PullEvents]) -> types.PulledEvents:
        """Ask for the events that webhooks get. Give `after` of the answer to read on.

        Fails with `Invalid` if events after `after` are gone, which happens after 7 days or as many as the deployment keeps them,
        or if the log has not reached it.
        """
        seconds = request.get("wait_seconds", 0) + _ANSWER_SECONDS
        limits = {"timeout": 2 * seconds, "attempt_timeout": seconds} if request.get("wait_seconds") else {}
        return self._rest.call("GET /v1/events", {**limits, **request}, types.PulledEvents)

    def follow_events(
        self, *, after: int | None = None, types: Sequence[str] = ()
    ) -> Generator[WebhookEvent, None, None]:
        """Follow the events that webhooks get for ever, across lost connections and restarts of the service.

        After a crash, begin with the `seq` of the last event that you handled, as `after`. Fails as `pull_events` does.
        """
        failures = 0
        closed = self._rest.calls.closed
        while True:
            request: Any = {"after": after, "types": types, "wait_seconds": _PULL_SECONDS_MAX}
            try:
                page = io.until_closed(self.pull_events(**request), closed)
            except BoxofficeError as error:
                if not is_transient_rest(error):
                    raise
                wait = wait_after(failures, error)
                _log.info("asking again for events in %.1f s: %s", wait, error)
                io.pause(closed, wait)
                failures += 1
                continue
            failures = 0
            for event in page.events:
                yield event
            after = page.after

    def list(self, **request: Unpack[types.CallOptions]) -> list[types.Webhook]:
        """All webhooks, oldest first."""
        return self._rest.items("GET /v1/webhooks", request, "webhooks", types.Webhook)


def _changed(name: str, changes: Mapping[str, Any]) -> list[str]:
    """Paths of the fields that are given, for an update mask."""
    given = [field for field, value in changes.items() if value is not None]
    if not given:
        raise invalid(name, "must have a field that is to change")
    return given
