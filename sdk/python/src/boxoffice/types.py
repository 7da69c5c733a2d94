# Made by scripts/make-python.ts from proto/boxoffice/control/v1, src/doors/rest and src/outward/events. Not to be edited.
"""What requests take, and what answers have.

Requests are keywords of methods. Answers are dataclasses: what is absent in them is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, Union

from typing_extensions import Required, TypedDict

from boxoffice.secret import Secret


class CallOptions(TypedDict, total=False):
    """Options of every call."""

    timeout: float
    """Seconds that the call may take, with all its attempts. Default: that of the client."""

    attempt_timeout: float
    """Seconds that each attempt may take. Default: that of the client."""


class MutationOptions(CallOptions, total=False):
    """Options of calls that change something."""

    idempotency_key: str
    """1 to 128 visible ASCII characters; REST takes up to 255. Within 24 hours, the same key returns the first answer
    without a second effect. Default: a random key for each call, the same for all its attempts.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """An amount of money."""

    micros: int
    """Millionths of a US dollar."""

    display: str
    """The same for people, such as `-$0.000009`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """An answer that has nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResentEvents:
    """What was given up and is sent again."""

    webhook: Webhook
    """The webhook, with how many events are put aside now."""

    resent: int
    """How many events that were given up are sent again."""

    more: bool
    """Others stay given up, because no more events may be put aside. Ask again later."""


TenantStatus: TypeAlias = Literal[
    "pending",
    "active",
    "suspended",
    "archived",
    "deleted",
]
"""Whether a tenant may be served. Expect words that are not listed here."""


LedgerKind: TypeAlias = Literal[
    "usage",
    "top_up",
    "auto_top_up",
    "refund",
    "dispute",
    "adjustment",
    "correction",
    "grant",
    "grant_expired",
    "grant_voided",
]
"""What changed a balance. Expect words that are not listed here."""


GrantState: TypeAlias = Literal[
    "active",
    "spent",
    "expired",
    "voided",
]
"""Whether usage still spends a grant. Expect words that are not listed here."""


KeyKind: TypeAlias = Literal[
    "backend",
    "relay",
]
"""What an API key is for. Expect words that are not listed here."""


Role: TypeAlias = Literal[
    "host",
    "audience",
    "broadcast_audience",
]
"""What a participant is in a room. Expect words that are not listed here."""


Tier: TypeAlias = Literal[
    "audio",
    "hd",
    "full_hd",
    "2k",
    "2k_plus",
]
"""The sum of all video that a participant receives at once. Expect words that are not listed here."""


UsageGrouping: TypeAlias = Literal[
    "hour",
    "day",
    "month",
    "room",
    "role",
    "tier",
    "participant",
    "key",
    "customer",
]
"""By what usage is summed up. Expect words that are not listed here."""


ChargeLimit: TypeAlias = Literal[
    "fee",
    "ceiling",
]
"""What makes the price of a record. Expect words that are not listed here."""


Rounding: TypeAlias = Literal[
    "carry",
    "per_record",
]
"""What becomes of fractions of a micro. Expect words that are not listed here."""


LookupOutcome: TypeAlias = Literal[
    "charged",
    "unbilled",
    "unknown",
]
"""What became of the id of a record. Expect words that are not listed here."""


LeaveReason: TypeAlias = Literal[
    "expired",
    "kicked",
    "banned",
    "ended",
    "watchdog",
]
"""Why a participant left. Expect words that are not listed here."""


ErasureState: TypeAlias = Literal[
    "pending",
    "done",
]
"""Whether the erasure of a person is done. Expect words that are not listed here."""


ThresholdKind: TypeAlias = Literal[
    "balance",
    "runway",
]
"""What a threshold is about. Expect words that are not listed here."""


BudgetPeriod: TypeAlias = Literal[
    "day",
    "month",
    "total",
]
"""What a budget is for. Expect words that are not listed here."""


RunwayWindow: TypeAlias = Literal[
    "1h",
    "24h",
    "7d",
]
"""Hours or days up to now. Expect words that are not listed here."""


AuditActorKind: TypeAlias = Literal[
    "key",
    "operator",
    "system",
]
"""Who makes changes. Expect words that are not listed here."""


WebhookState: TypeAlias = Literal[
    "active",
    "paused",
]
"""Whether a webhook gets events. Expect words that are not listed here."""


WebhookPauser: TypeAlias = Literal[
    "tenant",
    "failing",
    "gone",
]
"""Why a webhook is paused. Expect words that are not listed here."""


DeliveryKind: TypeAlias = Literal[
    "event",
    "aside",
    "test",
    "resend",
]
"""Why an event was sent. Expect words that are not listed here."""


DeliveryOutcome: TypeAlias = Literal[
    "delivered",
    "failed",
]
"""How attempts to send events ended. Expect words that are not listed here."""


Death: TypeAlias = Literal[
    "refused",
    "unanswered",
]
"""Why the last attempt to send an event failed. Expect words that are not listed here."""


WebhookOrder: TypeAlias = Literal[
    "tenant",
    "room",
    "none",
]
"""In which order a webhook gets events. Expect words that are not listed here."""


WebhookFormat: TypeAlias = Literal[
    "boxoffice",
    "cloudevents",
]
"""Which names the events of a webhook have. Expect words that are not listed here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """A customer of the platform, with its settings for payments."""

    id: str
    """The id of the tenant."""

    name: str
    """As given at signup."""

    email: str
    """As given at signup."""

    status: TenantStatus
    """`pending` until the first payment; only `active` tenants admit sessions."""

    has_card: bool
    """A saved payment method exists."""

    auto_top_up: AutoTopUp
    """The rule of automatic top-ups."""

    last_top_up_error: str | None = None
    """What stops automatic top-ups, or why the last one failed. Absent: neither."""

    created_at: datetime
    """When the tenant signed up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoTopUp:
    """The rule of automatic top-ups."""

    enabled: bool
    """Whether the saved card is charged automatically."""

    below: Amount
    """The balance below which it is charged."""

    amount: Amount
    """What it is charged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """One change of the balance."""

    kind: LedgerKind
    """What changed the balance."""

    amount: Amount
    """By how much the balance changed; charges are negative."""

    capped: bool
    """The charge was limited by the ceiling."""

    reference: str
    """For usage, the room; for payments, the provider's id."""

    detail: str | None = None
    """For usage, the participant."""

    at: datetime
    """When the balance changed."""

    id: str | None = None
    """For usage, the id of the record. Only the list of the ledger has it."""

    payment: str | None = None
    """For a payment, refund or dispute, the id of the payment. Only the list of the ledger has it."""

    posting_seq: int | None = None
    """The number of the posting in the ledger. Records that were charged together have one posting. Only the
    list of the ledger has it.
    """

    balance_after: Amount | None = None
    """The balance after the posting. Only the list of the ledger has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """The tenant, its balance and its newest ledger entries."""

    tenant: Tenant
    """A customer of the platform, with its settings for payments."""

    balance: Amount
    """Prepaid credit that is left; may be negative."""

    admitted: bool
    """New sessions and tokens are admitted."""

    recent: list[LedgerEntry]
    """The newest entries of the ledger, newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutPage:
    """A page on which credit is paid for."""

    checkout_url: str
    """The page, to open in a browser."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PortalPage:
    """The portal for receipts and saved cards."""

    portal_url: str
    """The portal, to open in a browser."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Runway:
    """How long the credit lasts, and which rooms use most of it."""

    at: datetime
    """The instant that the answer is about."""

    balance: Amount
    """Prepaid credit that is left; may be negative."""

    empty: bool
    """Nothing is left: the balance is 0 or less."""

    burn: list[Burn]
    """For each of the windows."""

    rooms: ExpensiveRooms
    """The rooms that cost most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Burn:
    """What usage takes, and how long the balance lasts if it goes on like this."""

    window: RunwayWindow
    """The hours or days up to now."""

    spent: Amount
    """What usage took in them."""

    per_hour: Amount
    """The same for an hour, rounded up."""

    runway_hours: float | None = None
    """How long the balance lasts at this rate, without grants that end before; 0: it is spent. Absent: nothing
    is used.
    """

    empty_at: datetime | None = None
    """When it is spent. Absent: it is spent already, or never, or after the year 9999."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpensiveRooms:
    """The rooms that cost most in a window."""

    window: RunwayWindow
    """As asked for."""

    from_: datetime
    """The start of the hour in which the window begins: rooms are added up by hours."""

    spent: Amount
    """What all rooms took since then."""

    top: list[RoomShare]
    """Those that took most, the most expensive first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomShare:
    """What one room cost."""

    room: str
    """As reported; empty for records without one."""

    amount: Amount
    """What its usage took."""

    share: float
    """Of what all rooms took: 0 to 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThresholdStatus:
    """A threshold that was set, and whether the balance is below it."""

    kind: ThresholdKind
    """`balance`: an amount of credit; `runway`: hours that the credit lasts."""

    below_micros: int | None = None
    """For `balance`: millionths of a US dollar."""

    below_hours: int | None = None
    """For `runway`: hours."""

    raised_at: datetime | None = None
    """Since when the balance is below it. Absent: it is not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """A budget. `spent` was charged in this period, `held` is what tokens that run may still cost, `free` is
    what further tokens may cost, and `beyond` is what was charged although the budget was spent.
    """

    id: str
    """As you chose it."""

    uid: str
    """As tokens and relays know it; a budget that is made again has another one."""

    key: str | None = None
    """Id of an API key or a device credential: tokens that it asked for."""

    room: str | None = None
    """A name, in which `*` stands for any characters: tokens of these rooms."""

    customer: str | None = None
    """Tokens that were minted with this `customer`."""

    period: BudgetPeriod
    """What it is for: each day or month, in UTC, or everything."""

    limit: Amount
    """An amount of money."""

    hard: bool
    """Tokens that do not fit are refused. Otherwise events tell, and nothing is refused."""

    alert_percents: list[int]
    """An event tells of each that is spent, once a period. Ascending."""

    spent: Amount
    """An amount of money."""

    held: Amount
    """An amount of money."""

    free: Amount
    """An amount of money."""

    beyond: Amount
    """An amount of money."""

    period_started_at: datetime
    """Since when `spent` counts: the start of the period, or of the budget."""

    created_at: datetime
    """When it was made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedStatement:
    """The balance of a month that has a statement."""

    month: str
    """A month in the time zone of the tenant."""

    opening: Amount
    """The balance at the start of the month."""

    closing: Amount
    """The balance at its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedStatement:
    """A statement, and its signature if the month is over."""

    statement: Statement
    """The statement."""

    jws: str | None = None
    """The statement, signed: a compact JWS of the type `statement+jwt`, to be verified with the keys of
    `/.well-known/statement-keys.json`. Absent: the month is not over.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """The account of a month."""

    version: int
    """Of this form: always 1."""

    iss: str
    """The public address of the deployment."""

    tenant: StatementTenant
    """Whose statement it is."""

    month: str
    """A month in the time zone of the tenant."""

    so_far: bool | None = None
    """Always true: the month is not over. Absent: it is."""

    issuer_details: BillingDetails | None = None
    """Those of the operator, as they are now."""

    from_: datetime
    """Start of the month."""

    to: datetime
    """End of the month; what happened at that time is not in it."""

    time_zone: str | None = None
    """In which the month ends, by its IANA name. Absent: UTC."""

    currency: str
    """Always `usd`."""

    opening: Amount
    """The balance at the start of the month."""

    payments: Movements
    """What was paid in."""

    reversals: Movements
    """Refunds and disputes, and what they gave back."""

    adjustments: Movements
    """What the operator gave or took back."""

    grants: GrantedCredit | None = None
    """What was granted, and what left at an end. Absent: there was none."""

    usage: StatementUsage
    """What usage cost. Unbilled usage moved no balance."""

    closing: Amount
    """The balance at the end: opening, payments, reversals, adjustments and grants, less usage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BillingDetails:
    """Name, address and tax id on statements. What is absent is not known."""

    name: str | None = None
    """The legal name."""

    address: list[str] | None = None
    """The lines of the postal address; none is as if it were absent."""

    tax_id: str | None = None
    """The tax id, as it is written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeZone:
    """Where the days and months of a tenant begin."""

    time_zone: str
    """That of this month, by its IANA name."""

    next_time_zone: str | None = None
    """What was set since. Absent: nothing else."""

    next_from: datetime | None = None
    """When the next one begins, with a month."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementTenant:
    """Whose statement it is."""

    id: str
    """The id of the tenant."""

    name: str
    """As given at signup."""

    details: BillingDetails | None = None
    """Those that held at the end of the month, or the first ones that were given later. Absent: there are
    none.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Movements:
    """Changes of the balance of one kind."""

    entries: list[Movement]
    """The first ones, in the order of time."""

    others: FurtherMovements | None = None
    """Those that are not listed. Absent: there are none."""

    sum: Amount
    """Of all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Movement:
    """One change of the balance."""

    at: datetime
    """When the balance changed."""

    kind: LedgerKind
    """What changed the balance."""

    amount: Amount
    """By how much."""

    reference: str | None = None
    """The provider's id of the payment, refund or dispute; the id of a grant; of an adjustment, its own; of a
    correction, its period.
    """

    detail: str | None = None
    """Why an adjustment, a correction or a grant was made."""

    payment: str | None = None
    """The payment that was reversed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FurtherMovements:
    """Movements that are not listed, added up."""

    count: int
    """How many."""

    sum: Amount
    """Of all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantedCredit:
    """Granted credit in a month."""

    opening: Amount
    """What of the opening balance was granted; the rest was paid."""

    entries: list[Movement]
    """The first ones, in the order of time."""

    others: FurtherMovements | None = None
    """Those that are not listed. Absent: there are none."""

    sum: Amount
    """Of all of them."""

    spent: Amount
    """What was spent of granted credit."""

    closing: Amount
    """What of the closing balance was granted; the rest was paid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatementUsage:
    """What usage cost."""

    rooms: list[RoomUsage]
    """The most expensive first."""

    others: FurtherRooms | None = None
    """Those that are not listed. Absent: there are none."""

    sum: UsageSums
    """Of all rooms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomUsage:
    """Usage of one room."""

    room: str
    """As reported; empty for records without one."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FurtherRooms:
    """Rooms that are not listed, added up."""

    rooms: int
    """How many rooms."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """Credit that the operator granted."""

    id: str
    """The id, which the ledger entries of the grant name."""

    state: GrantState
    """`active`: usage spends it; `spent`: nothing is left; `expired` and `voided`: what was left left the
    balance.
    """

    reason: str
    """Why it was granted."""

    amount: Amount
    """What was granted: the sum of `left`, `spent` and `forfeited`."""

    left: Amount
    """What usage may still spend."""

    spent: Amount
    """What usage spent, or what the tenant owed before."""

    forfeited: Amount
    """What was left when it expired or was voided."""

    granted_at: datetime
    """When it was granted."""

    expires_at: datetime | None = None
    """When what is left leaves the balance. Absent: never."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Payment:
    """A payment that was credited."""

    id: str
    """The provider's id, which the ledger entries of the payment name."""

    kind: LedgerKind
    """`top_up`: by checkout; `auto_top_up`: from the saved card."""

    amount: Amount
    """The credit that was paid for, without tax."""

    tax: Amount | None = None
    """What was paid on top of it as tax. Absent: nothing."""

    reversed: Amount
    """How much of the credit refunds and disputes have taken back."""

    at: datetime
    """When it was credited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The pages of the payment provider for a payment. They expire after at most 30 days."""

    url: str
    """The receipt, to open in a browser."""

    invoice_url: str | None = None
    """The invoice, to open in a browser. Absent: there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """An API key, without its secret."""

    id: str
    """The second part of the plaintext."""

    name: str
    """As given when it was created."""

    kind: KeyKind
    """`backend`: everything of the tenant; `relay`: reports of usage."""

    created_at: datetime
    """When it was created."""

    retires_at: datetime | None = None
    """Until when it works beside its replacement. Absent: it was not rotated."""

    revoked_at: datetime | None = None
    """When it was revoked or retired. Absent: it was not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedKey:
    """A new key, and its plaintext."""

    key: Key
    """An API key, without its secret."""

    api_key: Secret
    """The plaintext, shown once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RotatedKey:
    """The replacement of a key."""

    key: Key
    """An API key, without its secret."""

    api_key: Secret
    """The plaintext, shown once."""

    old_key_retires: datetime
    """Until when the old key works."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedUp:
    """A new tenant, which pays before it can do anything."""

    tenant: str
    """The id of the tenant."""

    status: TenantStatus
    """Until the first payment."""

    api_key: Secret
    """The plaintext of the key `default`, shown once."""

    key_id: str
    """The id of this key."""

    checkout_url: str
    """A page to pay on. Empty when no checkout could be opened."""

    note: str
    """A reminder that the key is shown once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RateCard:
    """The prices in effect."""

    currency: str
    """In lower case: `usd`."""

    model: str
    """How a charge comes about, in words."""

    egress_cost_per_gib: Amount
    """What a GiB of a hosted relay's egress costs the platform."""

    markup_basis_points: int
    """Markup on that cost; 1500 is 15 %."""

    platform_fee_per_gib: Amount
    """Fee for a GiB of egress, whether or not the tenant hosts the relay."""

    ceiling_per_1000_participant_minutes: dict[Role, dict[Tier, Amount]]
    """The most that 1000 minutes of one participant cost, by role and tier."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExactAmount:
    """An exact amount of money."""

    decimal: str
    """In micros, rounded to 13 decimals: `558.7935447692871`."""

    numerator: str
    """Exact: `numerator` / `denominator` micros. An integer of any length."""

    denominator: str
    """The same for all exact amounts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """What a room would cost."""

    rate_version: int
    """The version of the rate card in effect."""

    rule_version: int
    """The version of the pricing rule."""

    rounding: Rounding
    """`carry`: fractions of a micro go to the next charge; `per_record`: each record is rounded."""

    lines: list[SimulatedLine]
    """One for each of the request, in order."""

    participants: int
    """Of all lines."""

    records: int
    """Of all lines."""

    price: ExactAmount
    """The exact price of all lines."""

    total: Amount
    """What the room costs: the sum of the amounts of all lines."""

    carry_before: ExactAmount
    """The fraction that the tenant's charges have left over."""

    carry_after: ExactAmount
    """The fraction that this charge would leave over."""

    exempt: bool
    """True: usage of this tenant is priced and not charged."""

    balance: Amount
    """Prepaid credit now."""

    balance_after: Amount
    """Prepaid credit after this charge, without any top-up."""

    covered: bool
    """The credit is enough: `balance_after` is not negative."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedLine:
    """What participants who are alike would cost."""

    participants: int
    """As given in `count`."""

    records: int
    """Usage records that a relay would report for them."""

    fee: ExactAmount
    """The platform fee on their egress."""

    ceiling: ExactAmount
    """The ceiling for their time."""

    capped: bool
    """The ceiling is lower than the fee and makes the price."""

    price: ExactAmount
    """The lower of the two."""

    amount: Amount
    """The price in whole micros, after the lines before it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChargedUsage:
    """What became of a batch of usage."""

    charged: int
    """Records that were charged."""

    duplicates: int
    """Records whose id was known already: not charged."""

    unbilled: int
    """Records accepted and not charged: exempt tenants."""

    total: Amount
    """What the batch cost."""

    admitted: bool
    """False: admit no new sessions until it is true again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChargedRecord:
    """A usage record, and what it cost."""

    id: str
    """As reported."""

    room: str | None = None
    """As reported. Absent: there was none."""

    participant: str | None = None
    """As reported. Absent: there was none."""

    role: Role
    """As reported."""

    tier: Tier
    """As reported."""

    seconds: int
    """As reported."""

    egress_bytes: int
    """As reported."""

    ingress_bytes: int
    """As reported."""

    total: Amount
    """What it cost; for an unbilled record, what it would have cost."""

    capped: bool
    """The ceiling limited the charge."""

    unbilled: bool
    """The tenant was exempt, so it was not charged."""

    at: datetime
    """When it was charged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What one participant did in one room, from entering to leaving, and what it cost."""

    id: str
    """The id of the session."""

    room: str
    """The name of the room."""

    room_uid: str
    """The incarnation of the room."""

    participant: str
    """The username; `(erased)` after an erasure."""

    role: Role
    """The last role."""

    key_id: str | None = None
    """The API key or device credential that admitted the participant first."""

    customer: str | None = None
    """The label that the mint named, if it named one."""

    devices: list[str]
    """Thumbprints of the keys of its devices."""

    entered_at: datetime
    """When the participant entered."""

    left_at: datetime | None = None
    """When the participant left, or the last token expired. Absent: still in the room."""

    leave_reason: LeaveReason | None = None
    """Why the session ended."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""

    seconds_by_tier: dict[Tier, int]
    """Seconds in each tier."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownSession:
    """A session with its newest records."""

    session: Session
    """What one participant did in one room, from entering to leaving."""

    records: list[ChargedRecord]
    """Its newest records, as far as they are at hand: 20 at most."""

    assigned_until: datetime
    """The sums have every charge before this time. Later ones are added within seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomCost:
    """What a room cost."""

    room: str
    """The name of the room."""

    room_uid: str
    """The incarnation."""

    created_at: datetime
    """When the room was created."""

    ended_at: datetime | None = None
    """When the room ended. Absent: it is live."""

    sessions: int
    """How many sessions it had."""

    assigned: SessionSums
    """The sums of its sessions."""

    unassigned: SessionSums
    """Usage of the room that belongs to no session."""

    assigned_until: datetime
    """The sums have every charge before this time. Later ones are added within seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionSums:
    """Sums of usage, with the seconds of each tier."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""

    seconds_by_tier: dict[Tier, int]
    """Seconds in each tier."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageConflict:
    """An id that was reported again with other values."""

    id: str
    """The id of the record."""

    times: int
    """How often it was reported with other values."""

    first_at: datetime
    """When this happened first."""

    last_at: datetime
    """When this happened last."""

    charged: ReportedUsage
    """The first report, which was charged."""

    reported: ReportedUsage
    """The latest of the others, which were not charged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedUsage:
    """What a relay reported for an id."""

    room: str | None = None
    """As reported. Absent: there was none."""

    participant: str | None = None
    """As reported. Absent: there was none."""

    role: Role
    """As reported."""

    tier: Tier
    """As reported."""

    seconds: int
    """As reported."""

    egress_bytes: int
    """As reported."""

    ingress_bytes: int
    """As reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSummary:
    """A page of sums, and the sum of all pages."""

    from_: datetime
    """Start of the period."""

    to: datetime
    """End of the period."""

    rows: list[UsageRow]
    """The groups."""

    sum: UsageSums
    """Of all groups and `unassigned`, on every page."""

    unassigned: UsageSums | None = None
    """Usage that belongs to no session, or is not assigned yet. Only for sums of sessions."""

    assigned_until: datetime | None = None
    """Usage that was charged before this time is assigned. Only for sums of sessions."""

    next_cursor: str | None = None
    """Only if there are more: `cursor` of the request for the next page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageRow:
    """One group of usage."""

    hour: datetime | None = None
    """Start of the hour. Only if grouped by hour."""

    day: datetime | None = None
    """Start of the day in the time zone of the tenant. Only if grouped by day."""

    month: str | None = None
    """The month there, such as `2026-11`. Only if grouped by month."""

    room: str | None = None
    """As reported; empty for records without one. Only if grouped by room."""

    role: Role | None = None
    """Only if grouped by role."""

    tier: Tier | None = None
    """Only if grouped by tier."""

    participant: str | None = None
    """The username; `(erased)` after an erasure. Only if grouped by participant."""

    key: str | None = None
    """The id of the API key or device credential that admitted the participant first; empty if it is not
    known. Only if grouped by key.
    """

    customer: str | None = None
    """The label that the mint named; empty for sessions without one. Only if grouped by customer."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSums:
    """Sums of usage."""

    records: int
    """Records, charged and unbilled."""

    seconds: int
    """Seconds that participants were connected."""

    egress_bytes: int
    """Bytes sent to participants. May exceed 64 bits."""

    ingress_bytes: int
    """Bytes received from participants. May exceed 64 bits."""

    total: Amount
    """What was charged."""

    unbilled: Amount
    """What would have been charged, while the tenant was exempt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedUsage:
    """A charge, and how it came about."""

    record: ChargedRecord
    """A usage record."""

    explanation: ChargeExplanation
    """The calculation, step by step."""

    posting: UsagePosting
    """The change of the balance that this record is part of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChargeExplanation:
    """The calculation of a charge, step by step. Texts are decimals."""

    egress_gib: str
    """`egress_bytes` in GiB, rounded to 12 decimals."""

    platform_fee_per_gib: Amount
    """Of the rate card."""

    fee: str
    """`egress_gib` times the platform fee, in micros."""

    minutes: str
    """`seconds` in minutes, rounded to 12 decimals."""

    ceiling_per_1000_minutes: Amount
    """Of the rate card, for the role and the tier."""

    ceiling: str
    """A thousandth of it for every minute, in micros."""

    limited_by: ChargeLimit
    """The smaller of the two, which is the price."""

    price: str
    """The price, in micros."""

    carry_before: str
    """The fraction that earlier charges left over, in micros."""

    carry_after: str
    """The fraction that is left for the next charge, in micros."""

    rounding: Rounding
    """`carry`: price and carry before are cut to whole micros; `per_record`: the price is rounded half-up."""

    rate_card: int
    """Version of the rate card."""

    rule: int
    """Version of the pricing rule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsagePosting:
    """A change of the balance by records that were charged together."""

    seq: int
    """Its number in the ledger."""

    records: int
    """How many records were charged together."""

    amount: Amount
    """By how much they changed the balance."""

    at: datetime
    """When."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedUpRecord:
    """What became of the id of a record."""

    id: str
    """As asked."""

    outcome: LookupOutcome
    """`unbilled`: accepted while the tenant was exempt; `unknown`: never accepted, so report it."""

    total: Amount | None = None
    """What it cost, or would have cost if it is unbilled. Absent: it is unknown."""

    at: datetime | None = None
    """When it was charged. Absent: it is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MailSettings:
    """The addresses that get mail about the account, and what they get."""

    signup_address: bool
    """Whether `email` gets mail."""

    email: str
    """The address given at signup."""

    addresses: list[str]
    """Further addresses that get mail."""

    alerts: bool
    """Whether mails tell about what needs attention, such as a low balance."""

    receipts: bool
    """Whether mails confirm payments."""

    unsubscribed: list[str]
    """Their owners want no alerts of this tenant. Only a link in an alert changes that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEntry:
    """One change."""

    id: str
    """The id of the entry."""

    at: datetime
    """When it happened."""

    actor: AuditActor
    """Who made the change."""

    action: str
    """What was done, such as `key_revoked`. Expect new actions."""

    subject: str | None = None
    """The id of what was changed. Absent: there is only one of it."""

    before: dict[str, Any] | None = None
    """What changed, as it was. Absent: there was nothing."""

    after: dict[str, Any] | None = None
    """The same as it is now. Absent: there is nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditActor:
    """Who made a change."""

    kind: AuditActorKind
    """`key`: an API key; `member`: a person in the console; `operator`: of the deployment; `system`: the
    service itself.
    """

    id: str | None = None
    """The id of the key, or the part of the service. Absent: an operator."""

    address: str | None = None
    """From where the key was used, a member acted, or a log-in failed; `(erased)` after 400 days, or as many
    as the operator says.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """How far the erasure of a person is."""

    id: str
    """The id of the erasure."""

    state: ErasureState
    """`done`: nothing that is stored shows the name any more."""

    records: int
    """Usage records that have lost the name so far."""

    created_at: datetime
    """When it was asked for."""

    finished_at: datetime | None = None
    """When it was done. Absent: it is pending."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    """An endpoint that gets the events of the tenant, without its secret."""

    id: str
    """The id of the webhook."""

    url: str
    """Where events go."""

    types: list[str]
    """Which types of events it gets. Empty: all."""

    rooms: list[str]
    """Names and patterns of rooms whose events it gets. Empty: all events."""

    description: str
    """As given. May be empty."""

    header_names: list[str]
    """Names of the headers that each request has besides, in lower case. May be empty."""

    has_basic_auth: bool
    """Whether requests have Basic authentication."""

    order: WebhookOrder
    """`tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side;
    `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by
    itself.
    """

    max_in_flight: int
    """Requests at once, in an order other than `tenant`."""

    max_per_second: int | None = None
    """Requests in a second. Absent: as many as it accepts."""

    format: WebhookFormat
    """`boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0."""

    max_batch: int
    """Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`,
    or a batch of CloudEvents.
    """

    state: WebhookState
    """`paused`: nothing is delivered, and events wait."""

    paused_by: WebhookPauser | None = None
    """`tenant`: by a request; `failing`: the last attempt of a delivery failed; `gone`: the answer was 410.
    Absent: it is active.
    """

    paused_at: datetime | None = None
    """Since when it is paused. Absent: it is active."""

    delivered_seq: int
    """Every wanted event up to this number has been delivered, or is put aside."""

    waiting: int
    """Events that are put aside, and are tried again by themselves. At most 10000, and 1000 until the tenant
    has paid: later events wait then.
    """

    waiting_retry_at: datetime | None = None
    """When the first of these is tried again; one that is past: as soon as there is room. Absent: none is put
    aside, or the webhook is paused.
    """

    given_up: int
    """Events that were given up and not sent again since: `dead-letters` lists them. 1000 means so many or
    more.
    """

    failures: int
    """Failed attempts since the last delivery."""

    retry_at: datetime | None = None
    """Nothing is tried again before. Absent: nothing has failed, or is retried."""

    public_keys: list[str]
    """Verify the signatures `v1a`: of all secrets that sign now, the newest first."""

    sent_from: list[str] | None = None
    """Addresses and networks that requests come from, for firewalls. Absent: the operator does not say."""

    created_at: datetime
    """When it was created."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedWebhook:
    """A webhook with new secrets. No later answer has them."""

    webhook: Webhook
    """An endpoint that gets the events of the tenant, without its secret."""

    secret: Secret
    """Verifies the signatures `v1`. Shown once."""

    public_key: str
    """Verifies the signatures `v1a`, and may be public."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RotatedWebhookSecret:
    """The replacement of a secret. No later answer has it."""

    webhook: Webhook
    """An endpoint that gets the events of the tenant, without its secret."""

    secret: Secret
    """Verifies the signatures `v1`. Shown once."""

    public_key: str
    """Verifies the signatures `v1a`, and may be public."""

    old_secret_retires: datetime
    """Until when the old secrets sign too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookDelivery:
    """An attempt to send an event."""

    id: str
    """The id of the attempt."""

    kind: DeliveryKind
    """`event`: in its place; `aside`: an event that was put aside, so later ones may have come before; `test`:
    the test event; `resend`: an event that was asked for again.
    """

    event_id: str
    """The id of the event. The header `webhook-id` is the same, unless the request was a list."""

    batch_id: str | None = None
    """The header `webhook-id` of the request, which was a list of events. Absent: it was the event."""

    seq: int | None = None
    """The number of the event. Absent: a test."""

    type: str
    """The type of the event, or `webhook_test`."""

    attempt: int
    """Counts the attempts to deliver the event in a row, from 1."""

    delivered: bool
    """The answer had a status from 200 to 299."""

    gave_up: bool
    """It was the last attempt: the event is not sent again."""

    status: int | None = None
    """Of the answer. Absent: there was none."""

    error: str | None = None
    """Why there was no answer. Absent: there was one."""

    answer: str | None = None
    """The first 1024 characters of the answer."""

    latency_ms: int
    """From the start of the request to its outcome."""

    at: datetime
    """When the outcome was known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """An event that was given up, and was not sent again since."""

    event_id: str
    """The id of the event, which is the header `webhook-id`."""

    seq: int
    """The number of the event."""

    type: str
    """The type of the event."""

    room: str | None = None
    """The name of its room. Absent: it has none."""

    happened_at: datetime | None = None
    """When it happened. Absent: it is not kept any more, and cannot be sent again."""

    attempts: int
    """How often it was sent in vain."""

    reason: Death
    """Why the last attempt failed: `refused`: the answer had another status than 2xx; `unanswered`: there was
    none. The webhook accepted other events meanwhile.
    """

    status: int | None = None
    """Of the last answer. Absent: there was none."""

    error: str | None = None
    """Why there was no answer. Absent: there was one."""

    answer: str | None = None
    """The first 1024 characters of the last answer."""

    given_up_at: datetime
    """When the last attempt had failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookEvent:
    """Something that happened to the tenant, in the form that webhooks and the pull of events have."""

    id: str
    """The same wherever the event appears; webhooks have it as the header `webhook-id`."""

    seq: int
    """Events of a tenant are numbered from 1, without a gap. 0: the test event of a webhook."""

    type: str
    """What happened, such as `balance_low`. Expect new types."""

    schema_version: int
    """The version of the schema of this type. It rises by one when members or words are added."""

    timestamp: datetime
    """When it happened."""

    skipped: int | None = None
    """In webhooks only: so many events before this one were deleted before they could be delivered."""

    data: dict[str, Any]
    """What it happened to, as it was right after. It depends on the type; expect new members."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PulledEvents:
    """The next events, and where to go on."""

    events: list[WebhookEvent]
    """The events, in order."""

    after: int
    """`after` of the next request."""

    more: bool
    """There are more, or may be: ask again at once."""


class SignUp(CallOptions, total=False):
    """The tenant to create."""

    email: Required[str]
    """The address of the customer. At most 254 characters."""

    name: Required[str]
    """The name of the customer. 1 to 200 characters."""


class CreateKey(MutationOptions, total=False):
    """The key to create."""

    name: Required[str]
    """For your own lists: where it is used. 1 to 100 characters."""

    kind: KeyKind
    """`backend`: everything of the tenant; `relay`: reports of usage. Absent: `backend`."""


class RotateKey(MutationOptions, total=False):
    """The key to replace."""

    id: Required[str]
    """The id of the key or credential."""

    overlap_seconds: int
    """How long the old one still works; by default a day, at most a week. Whole seconds."""


class RevokeKey(MutationOptions, total=False):
    """The key to revoke."""

    id: Required[str]
    """The id of the key or credential."""

    confirm: str
    """`stop-service`: also the last working key of its kind."""


class ListLedger(CallOptions, total=False):
    """Which entries of the ledger to list."""

    kinds: Sequence[LedgerKind]
    """Only these kinds."""

    room: str
    """Only usage of this room; empty: only usage without one."""

    participant: str
    """Only usage of this participant."""

    from_: datetime
    """Start of the period."""

    to: datetime
    """End of the period; what happened at that time is not in it."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ListGrants(CallOptions, total=False):
    """From which grant on to list."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ListPayments(CallOptions, total=False):
    """Which payments to list."""

    from_: datetime
    """Start of the period."""

    to: datetime
    """End of the period; what happened at that time is not in it."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class GetRunway(CallOptions, total=False):
    """Over which window to add rooms up."""

    window: RunwayWindow
    """Over which rooms are added up. Absent: `24h`."""


class SetAutoTopUp(MutationOptions, total=False):
    """When to charge the saved card automatically."""

    enabled: Required[bool]
    """Whether to charge the saved card automatically."""

    below_cents: int
    """The balance below which to charge it, in whole cents."""

    amount_cents: int
    """What to charge, in whole cents; when enabled, 1000 to 1000000."""


class SetBillingDetails(MutationOptions, total=False):
    """Name, address and tax id on statements, in place of all earlier ones."""

    name: str
    """The legal name. 1 to 200 characters."""

    address: Sequence[str]
    """The lines of the postal address; none is as if it were absent. At most 6."""

    tax_id: str
    """The tax id, as it is written. 1 to 50 characters."""


class SetTimeZone(MutationOptions, total=False):
    """Where days and months begin."""

    time_zone: Required[str]
    """The IANA name. 1 to 64 characters."""


class Threshold(TypedDict, total=False):
    """A threshold to set."""

    kind: Required[ThresholdKind]
    """`balance`: an amount of credit; `runway`: hours that the credit lasts."""

    below_micros: int
    """For `balance`: millionths of a US dollar."""

    below_hours: int
    """For `runway`: hours. 1 to 8760."""


class SetBudget(MutationOptions, total=False):
    """A budget to make or change."""

    id: Required[str]
    """The id of the budget, which you choose."""

    key: str
    """Id of an API key or a device credential: tokens that it asked for."""

    room: str
    """A name, in which `*` stands for any characters: tokens of these rooms."""

    customer: str
    """Tokens that were minted with this `customer`. 1 to 128 characters."""

    period: Required[BudgetPeriod]
    """What it is for: each day or month, in UTC, or everything."""

    limit_micros: Required[int]
    """Millionths of a US dollar. 0 and `hard` admits nothing that could cost anything."""

    hard: Required[bool]
    """Refuse tokens that could cost more than is left."""

    alert_percents: Sequence[int]
    """Percentages of the limit of which an event tells. Absent: none. At most 10."""


class SetMailSettings(MutationOptions, total=False):
    """Settings of the mail about the account, in place of all earlier ones."""

    addresses: Required[Sequence[str]]
    """Further addresses that get mail. At most 5."""

    alerts: Required[bool]
    """Whether mails tell about what needs attention, such as a low balance."""

    receipts: Required[bool]
    """Whether mails confirm payments."""

    signup_address: bool
    """Whether the address given at signup gets mail."""


class ListAudit(CallOptions, total=False):
    """Which changes to list."""

    action: str
    """Only this action."""

    subject: str
    """Only changes of what has this id."""

    from_: datetime
    """Start of the period."""

    to: datetime
    """End of the period; what happened at that time is not in it."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class UsageRecord(TypedDict, total=False):
    """The usage of one participant in one interval."""

    id: Required[str]
    """The same for the same participant and interval, on every retry; never used for another. 1 to 200
    characters.
    """

    tenant: str
    """If given, the tenant of the key."""

    room: str
    """The room, which the ledger shows. At most 200 characters."""

    participant: str
    """The participant, which the ledger shows. At most 200 characters."""

    role: Required[Role]
    """What the participant is in the room: it decides the ceiling."""

    tier: Required[Tier]
    """The sum of all video received at once: it decides the ceiling."""

    seconds: Required[int]
    """How long the participant was connected in the interval. 0 to 86400."""

    egress_bytes: Required[int]
    """Bytes sent to the participant: they are charged."""

    ingress_bytes: Required[int]
    """Bytes received from the participant."""


class ListUsageRecords(CallOptions, total=False):
    """Which usage records to list."""

    room: str
    """Only this room; empty: only records without one."""

    participant: str
    """Only this participant."""

    role: Role
    """Only this role."""

    tier: Tier
    """Only this tier."""

    from_: datetime
    """Start of the period."""

    to: datetime
    """End of the period; what happened at that time is not in it."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ListSessions(CallOptions, total=False):
    """Which sessions to list."""

    room: str
    """Only rooms of this name."""

    participant: str
    """Only this participant, by the username."""

    key: str
    """Only those that this API key or device credential admitted, by its id."""

    customer: str
    """Only those with this label of the mint."""

    from_: datetime
    """Only sessions that began at this time (UTC) or later: a day or a time."""

    to: datetime
    """Only sessions that began before this time."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ListUsageConflicts(CallOptions, total=False):
    """Which page of conflicts to list."""

    page_size: int
    """1 to 1000; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class SummarizeUsage(CallOptions, total=False):
    """Which usage to sum up."""

    group_by: Sequence[UsageGrouping]
    """A row for each combination of these; one of `hour`, `day` and `month` at most, and of `participant`,
    `key` and `customer` one alone, or with `day` or `month`. Absent: one row.
    """

    from_: datetime
    """Start of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of
    sessions, a whole day in UTC. Absent: 30 days before `to`; of sums of sessions, the start of its month.
    """

    to: datetime
    """End of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of
    sessions, a whole day in UTC. Absent: the end of this hour; of sums of sessions, of this month.
    """

    room: str
    """Only this room; empty: only records without one. Not for sums of sessions."""

    limit: int
    """1 to 1000; 0 is 100."""

    cursor: str
    """`next_cursor` of the previous page, which needs its `from` and `to` too; empty: the first page."""


class SimulatedParticipants(TypedDict, total=False):
    """Participants who are alike, in a room that is to be priced."""

    role: Required[Role]
    """What they are in the room: it decides the ceiling."""

    tier: Required[Tier]
    """The sum of all video that each receives at once: it decides the ceiling."""

    count: Required[int]
    """How many participants are like this. 1 to 100000."""

    seconds: Required[int]
    """How long each of them is connected. 0 to 86400."""

    egress_bytes: Required[int]
    """Bytes sent to each of them."""

    interval_seconds: int
    """The interval that the relay reports. 1 to 86400. Absent: one record for the whole time."""


class WebhookHeader(TypedDict, total=False):
    """A header that each request of a webhook has."""

    name: Required[str]
    """The name of the header. 1 to 100 characters."""

    value: Required[Secret | str]
    """Its value: printable ASCII. 1 to 1024 characters."""


class BasicAuth(TypedDict, total=False):
    """Basic authentication of each request of a webhook."""

    username: Required[str]
    """Without a colon. At most 256 characters."""

    password: Required[Secret | str]
    """May be empty. At most 256 characters."""


class CreateWebhook(MutationOptions, total=False):
    """The webhook to create."""

    url: Required[str]
    """Where events go: an `https` URL of the public internet, without user name, password and fragment, of at
    most 2048 characters.
    """

    types: Sequence[str]
    """Which types of events it gets. Empty: all."""

    rooms: Sequence[str]
    """Names of rooms, or beginnings of names before a `*`. It gets only events of these rooms then. Empty: all
    events, also those that concern no room. At most 20.
    """

    description: str
    """For your own lists. At most 200 characters."""

    headers: Sequence[WebhookHeader]
    """Headers that each request has besides. No later answer has their values. Not those that the request has
    itself: `content-...`, `webhook-...`, `host` and the like. Empty: none. At most 10.
    """

    basic_auth: BasicAuth
    """Basic authentication of each request. No later answer has it. Both empty: none."""

    order: WebhookOrder
    """`tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side;
    `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by
    itself. Absent: `tenant`.
    """

    max_in_flight: int
    """Requests at once, in an order other than `tenant`. 1 to 20."""

    max_per_second: int
    """Requests in a second. 0: as many as it accepts. 0 to 1000."""

    format: WebhookFormat
    """`boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0.
    Absent: `boxoffice`.
    """

    max_batch: int
    """Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`,
    or a batch of CloudEvents. 1 to 100.
    """


class ChangeWebhook(MutationOptions, total=False):
    """What to change of a webhook. What is left out keeps its value."""

    id: Required[str]
    """The id of the webhook."""

    url: str
    """Where events go: an `https` URL of the public internet, without user name, password and fragment, of at
    most 2048 characters.
    """

    types: Sequence[str]
    """Which types of events it gets. Empty: all."""

    rooms: Sequence[str]
    """Names of rooms, or beginnings of names before a `*`. It gets only events of these rooms then. Empty: all
    events, also those that concern no room. At most 20.
    """

    description: str
    """For your own lists. At most 200 characters."""

    headers: Sequence[WebhookHeader]
    """Headers that each request has besides. No later answer has their values. Not those that the request has
    itself: `content-...`, `webhook-...`, `host` and the like. Empty: none. Absent: as before. At most 10.
    """

    basic_auth: BasicAuth
    """Basic authentication of each request. No later answer has it. Both empty: none. Absent: as before."""

    order: WebhookOrder
    """`tenant`: each event once the one before was accepted; `room`: so in each room, and rooms side by side;
    `none`: all side by side. In `room` and `none`, an event that fails is put aside and tried again by
    itself.
    """

    max_in_flight: int
    """Requests at once, in an order other than `tenant`. 1 to 20."""

    max_per_second: int
    """Requests in a second. 0: as many as it accepts. 0 to 1000."""

    format: WebhookFormat
    """`boxoffice`: events as `GET /v1/events` answers them; `cloudevents`: with the names of CloudEvents 1.0."""

    max_batch: int
    """Events in one request, at most. 1: the body is an event. More: it is always a list, `{"events": [...]}`,
    or a batch of CloudEvents. 1 to 100.
    """

    paused: bool
    """`true`: deliver nothing for now; `false`: go on at once, where the deliveries stopped."""


class RotateWebhookSecret(MutationOptions, total=False):
    """The webhook whose secret to replace."""

    id: Required[str]
    """The id of the webhook."""

    overlap_seconds: int
    """How long the old secrets sign too; by default a day, at most a week. Whole seconds."""


class ListDeliveries(CallOptions, total=False):
    """Which attempts to list."""

    id: Required[str]
    """The id of the webhook."""

    outcome: DeliveryOutcome
    """Only attempts that ended so. `delivered`: the answer had a status from 200 to 299; `failed`: it had
    another one, or there was none. Absent: all.
    """

    page_size: int
    """1 to 500; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ListDeadLetters(CallOptions, total=False):
    """Which events that were given up to list."""

    id: Required[str]
    """The id of the webhook."""

    page_size: int
    """1 to 500; 0 is 100."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class PullEvents(CallOptions, total=False):
    """Where to begin, and how long to wait."""

    after: int
    """The number of an event: only later ones. Absent: from the oldest event that is kept."""

    types: Sequence[str]
    """Types of events. Absent: all."""

    limit: int
    """1 to 1000; 0 is 100."""

    wait_seconds: int
    """How long to wait for an event if there is none: whole seconds, up to 20. Absent: do not wait."""


class Checkout(MutationOptions, total=False):
    """What to pay."""

    amount_cents: Required[int]
    """What to pay, in whole cents. 1000 to 1000000."""


class GetStatement(CallOptions, total=False):
    """Which month."""

    month: Required[str]
    """A month in the time zone of the tenant, such as `2026-10`, that ended 15 minutes ago or earlier."""

    so_far: bool
    """Also for a month that is not over, up to now and unsigned."""


class GetReceipt(CallOptions, total=False):
    """Which payment."""

    id: Required[str]
    """The id of the payment."""


class SetAlerts(MutationOptions, total=False):
    """All thresholds."""

    thresholds: Required[Sequence[Threshold]]
    """All of them, each once; none turns alerts off. At most 10."""


class GetBudget(CallOptions, total=False):
    """Which budget."""

    id: Required[str]
    """The id of the budget, which you choose."""


class DeleteBudget(MutationOptions, total=False):
    """Which budget."""

    id: Required[str]
    """The id of the budget, which you choose."""


class ReportUsage(CallOptions, total=False):
    """A batch of records."""

    records: Required[Sequence[UsageRecord]]
    """The batch. An empty one asks for `admitted` alone. At most 5000."""


class GetSession(CallOptions, total=False):
    """Which session."""

    id: Required[str]
    """The id of the session."""


class GetRoomCost(CallOptions, total=False):
    """Which room."""

    uid: Required[str]
    """The uid of the room."""


class ExplainUsage(CallOptions, total=False):
    """A charge."""

    id: Required[str]
    """The id of the record."""


class LookUpUsage(CallOptions, total=False):
    """Ids of records."""

    ids: Required[Sequence[str]]
    """Ids of records. At most 5000."""


class SimulateRoom(CallOptions, total=False):
    """Who is in the room."""

    participants: Required[Sequence[SimulatedParticipants]]
    """Who is in the room. Each line stands for `count` participants who are alike. At most 50."""


class EraseParticipant(MutationOptions, total=False):
    """A person."""

    participant: Required[str]
    """The name, as usage records and tokens have it. 1 to 200 characters."""


class GetErasure(CallOptions, total=False):
    """Which erasure."""

    id: Required[str]
    """The id of the erasure."""


class GetWebhook(CallOptions, total=False):
    """Which webhook."""

    id: Required[str]
    """The id of the webhook."""


class DeleteWebhook(MutationOptions, total=False):
    """Which webhook."""

    id: Required[str]
    """The id of the webhook."""


class TestWebhook(MutationOptions, total=False):
    """Which webhook."""

    id: Required[str]
    """The id of the webhook."""


RoomState: TypeAlias = Literal[
    "live",
    "ended",
]
"""Whether users may still enter a room. Expect words that are not listed here."""


RoomMode: TypeAlias = Literal[
    "meeting",
    "broadcast",
]
"""What a room is for. Expect words that are not listed here."""


ParticipantState: TypeAlias = Literal[
    "present",
    "left",
]
"""Whether a user may be in a room. Expect words that are not listed here."""


TrackKind: TypeAlias = Literal[
    "audio",
    "video",
    "screen",
    "data",
]
"""What a participant may publish. Expect words that are not listed here."""


ModerationAction: TypeAlias = Literal[
    "kick",
    "ban",
    "unban",
    "force_mute",
    "release_mute",
    "revoke_publish",
    "restore_publish",
    "close_room",
]
"""What a moderator did. Expect words that are not listed here."""


EventType: TypeAlias = Literal[
    "room_created",
    "room_updated",
    "room_ended",
    "participant_entered",
    "participant_updated",
    "participant_left",
    "moderation",
    "watchdog_warned",
    "watchdog_fired",
    "snapshot",
    "bookmark",
    "reset",
    "watchdog_rearmed",
    "credit_spent",
    "credit_restored",
    "top_up_succeeded",
    "top_up_failed",
    "payment_reversed",
    "tenant_status_changed",
    "key_created",
    "key_rotated",
    "key_revoked",
    "device_credential_created",
    "device_credential_rotated",
    "device_credential_revoked",
    "balance_low",
    "balance_recovered",
    "runway_low",
    "runway_recovered",
    "payment_disputed",
    "payment_dispute_closed",
    "card_expiring",
    "conflicting_duplicates",
    "key_retiring",
    "webhook_paused",
    "budget_alert",
    "statement_ready",
    "grant_expiring",
]
"""What happened. Expect words that are not listed here."""


WatchdogAction: TypeAlias = Literal[
    "end_room",
    "kick",
    "revoke_publish",
    "notify",
]
"""What a watchdog does. Expect words that are not listed here."""


WatchdogState: TypeAlias = Literal[
    "armed",
    "warned",
    "fired",
    "disarmed",
]
"""Where a watchdog stands. Expect words that are not listed here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomPolicy:
    """The rules of a room. `mode` to `region` are fixed when it is created."""

    mode: RoomMode
    """Immutable."""

    e2ee_required: bool
    """Clients must not publish without a key for end-to-end encryption, and relays refuse plain media as far
    as they can tell. Immutable.
    """

    age_verification_required: bool
    """Mints need `age_verified`, and joins with device credentials are refused. Immutable."""

    region: str
    """Where relays should serve the room: at most 64 characters of `[a-z0-9-]`. Immutable. The service does
    not interpret it.
    """

    max_participants: int
    """How many users may be present, 0 to 100000; 0 is no limit. Beyond it, new users get ROOM_FULL."""

    locked: bool
    """New users are refused (ROOM_LOCKED); users who are present may renew."""

    host_capabilities: list[str]
    """What a host gets when a token is minted without capabilities; empty: all capabilities of a host."""

    audience_capabilities: list[str]
    """The same for the roles `audience` and `broadcast_audience`. Joins with device credentials get none that
    is not among them.
    """

    mute_on_entry: bool
    """Clients start with the microphone off, and relays forward no sound of a new publisher. Users may turn it
    on.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """One incarnation of a room. After it ends, a new room with another uid may use the name."""

    name: str
    """`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`; unique among a tenant's live rooms."""

    uid: str
    """Identifies this incarnation; `rid` in its tokens."""

    state: RoomState
    """Whether users may still enter."""

    policy: RoomPolicy | None = None
    """Its rules."""

    create_time: datetime | None = None
    """When it was created."""

    end_time: datetime | None = None
    """When it ended; absent while it is live."""

    end_reason: str
    """Why it ended: `ended`, `closed` by a moderator, or `watchdog`."""

    participant_count: int
    """How many users are present: see Participant."""

    metadata: str
    """The tenant's own text, set when the room is created; at most 4096 characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A device of the user."""

    thumbprint: str
    """The device's key: 43 characters of base64url (RFC 7638)."""

    key_id: str
    """The API key or device credential that asked for its last token."""

    expire_time: datetime | None = None
    """When its last token expires."""

    customer: str
    """The customer that the mint of its last token named; empty if it named none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Participant:
    """A user in a room, on one device or several. The service learns about participants from minted tokens,
    from joins with device credentials, and from the usage records of relays, which arrive a little later. A
    user enters with the first token and is present until the last token expires or is revoked. Relays do
    not report who hung up, so a user who did counts as present for up to 15 more minutes.
    """

    room: str
    """Name of the room."""

    room_uid: str
    """Its uid."""

    username: str
    """The username as tokens carry it, normalised (RFC 8265, UsernameCaseMapped)."""

    state: ParticipantState
    """Whether the user may be in the room."""

    role: Role
    """`host`, `audience` or `broadcast_audience`. Set by the last mint, or by a join if the user has no valid
    token of a higher rank.
    """

    rank: int
    """0 to 99, set like the role. Moderators act only on lower ranks."""

    capabilities: list[str]
    """Set like the role, sorted, without those that a moderator has revoked since."""

    tier: Tier
    """Tier of the newest usage record: `audio`, `hd`, `full_hd`, `2k` or `2k_plus`; empty before the first."""

    muted: list[TrackKind]
    """What a moderator has muted."""

    publish_revoked: list[TrackKind]
    """What a moderator has revoked the right to publish."""

    enter_time: datetime | None = None
    """When the user last entered."""

    last_seen_time: datetime | None = None
    """When the newest usage record arrived; absent before the first."""

    expire_time: datetime | None = None
    """When the last token expires."""

    leave_time: datetime | None = None
    """When the user left; absent while present."""

    leave_reason: str
    """Why the user left: `expired` (also when the device credential was revoked), `kicked`, `banned`, `ended`
    (the room) or `watchdog`; empty while present.
    """

    devices: list[Device]
    """Devices with unexpired tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watchdog:
    """A timer on a condition of a room. It acts once the condition has held for long enough."""

    id: str
    """`wd_<32 hex>`, chosen by the service. In an update, the watchdog to change."""

    room: str
    """Name of the room."""

    max_duration: timedelta | None = None
    """Time since the room was created."""

    unused_for: timedelta | None = None
    """Time since the room was created, while no participant has ever entered."""

    empty_for: timedelta | None = None
    """Time since the last participant left."""

    host_absent_for: timedelta | None = None
    """Time since a host was last present: since the host's newest usage record if relays report any, else
    since the host's tokens expired. If no host ever entered, time since the room was created.
    """

    alone_for: timedelta | None = None
    """Time since all but one user have left."""

    participant_max_duration: timedelta | None = None
    """Time since a participant entered; fires once for each. Not with ACTION_END_ROOM."""

    unadmitted_for: timedelta | None = None
    """Time since the tenant ran out of credit or stopped being active."""

    action: WatchdogAction
    """What it does. Every condition allows every action, with two exceptions: `unused_for` and `empty_for` do
    not allow KICK and REVOKE_PUBLISH; `participant_max_duration` does not allow END_ROOM.
    """

    warn_before: timedelta | None = None
    """How long before firing an event warns of it; absent or 0: no warning. Shorter than the condition. If the
    warning comes late, the watchdog fires that long after it.
    """

    state: WatchdogState
    """Where it stands. Output only."""

    deadline: datetime | None = None
    """When it will fire if nothing changes; absent while the condition does not hold. A late warning moves it.
    Output only.
    """

    fire_time: datetime | None = None
    """When it last fired. Output only."""

    room_uid: str
    """Uid of the room. Output only."""

    create_time: datetime | None = None
    """When it was created. Output only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModerationEvent:
    """What a moderator did. The record is kept for ever and never changes."""

    id: int
    """The `seq` of the event that reported it: it grows with every event of the tenant."""

    action: ModerationAction
    """What was done."""

    room: str
    """Name of the room; empty for a ban of the whole tenant."""

    room_uid: str
    """Its uid."""

    username: str | None = None
    """A user."""

    device_thumbprint: str | None = None
    """A device."""

    cidr: str | None = None
    """A range of addresses."""

    tracks: list[TrackKind]
    """The tracks, for mutes and publishing rights."""

    reason: str
    """The reason given in the request."""

    actor: str
    """The acting participant; empty: the tenant, or a watchdog."""

    key_id: str
    """The API key of the call; empty for a watchdog."""

    time: datetime | None = None
    """When it happened."""

    expire_time: datetime | None = None
    """When the ban ends; absent: never."""

    watchdog_id: str
    """The watchdog that did it; empty for a call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bookmark:
    """Everything up to here has been sent. Sent at least every 15 seconds: a stream that is silent for longer
    is dead.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Reset:
    """A snapshot follows: live rooms, present participants and waiting watchdogs, then a bookmark."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditChange:
    """The balance reached zero, or rose above it."""

    balance_micros: int
    """Millionths of a US dollar: the balance after the change."""

    admitted: bool
    """Whether new sessions and tokens are admitted from now on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TopUp:
    """A payment that added credit, or a failed attempt at one."""

    automatic: bool
    """Whether this was an automatic charge of the saved card; otherwise it was a checkout."""

    amount_micros: int
    """Millionths of a US dollar."""

    payment_id: str
    """The payment provider's id of the payment; empty if there was no payment."""

    error: str
    """Why it failed, as in `last_top_up_error` of the REST interface; empty if it succeeded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentReversal:
    """A refund or a dispute that moved the balance."""

    payment_id: str
    """The payment provider's id of the payment."""

    kind: str
    """`refund` or `dispute`."""

    reference: str
    """The payment provider's id of the refund or the dispute."""

    amount_micros: int
    """Millionths of a US dollar: negative if credit was taken back, positive if it was restored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantStatusChange:
    """The tenant's status or its exemption from charging changed."""

    from_: str
    """The status before: `pending`, `active`, `suspended`, `archived` or `deleted`."""

    to: str
    """The status after."""

    exempt: bool
    """Whether usage is recorded without being charged."""

    admitted: bool
    """Whether new sessions and tokens are admitted from now on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """An API key, without its secret."""

    id: str
    """16 hex characters."""

    name: str
    """1 to 100 characters."""

    kind: str
    """`backend` or `relay`."""

    create_time: datetime | None = None
    """When it was created."""

    retire_time: datetime | None = None
    """When it stops working; set only during the overlap of a rotation."""

    revoke_time: datetime | None = None
    """When it was revoked; absent if it was not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKeyChange:
    """An API key was created, rotated or revoked."""

    key: ApiKey | None = None
    """The key; after a rotation, the new one."""

    replaced_id: str
    """Only after a rotation: the id of the old key."""

    replaced_retire_time: datetime | None = None
    """Only after a rotation: when the old key stops working."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceCredential:
    """A device without a back end joins rooms with this credential. The REST interface manages the same
    credentials.
    """

    id: str
    """16 hex characters."""

    name: str
    """1 to 100 characters."""

    publish: list[TrackKind]
    """What devices may publish with it. Empty: joins with it are refused."""

    rooms: list[str]
    """Names of rooms, and patterns in which `*` matches any characters; empty: every room."""

    default_room: str
    """The room for joins that name none; empty: `lobby`."""

    expire_time: datetime | None = None
    """When it expires; absent: never."""

    create_time: datetime | None = None
    """When it was created."""

    retire_time: datetime | None = None
    """When it stops working; set only during the overlap of a rotation."""

    revoke_time: datetime | None = None
    """When it was revoked; absent if it was not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceCredentialChange:
    """A device credential was created, rotated or revoked."""

    credential: DeviceCredential | None = None
    """The credential; after a rotation, the new one."""

    replaced_id: str
    """Only after a rotation: the id of the old credential."""

    replaced_retire_time: datetime | None = None
    """Only after a rotation: when the old credential stops working."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceAlert:
    """The balance crossed a threshold of credit."""

    balance_micros: int
    """Millionths of a US dollar: the balance after the change."""

    below_micros: int
    """Millionths of a US dollar: the threshold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunwayAlert:
    """The time that the balance lasts crossed a threshold of hours."""

    balance_micros: int
    """Millionths of a US dollar: the balance."""

    below: timedelta | None = None
    """The threshold, in whole hours."""

    burn_per_hour_micros: int
    """Millionths of a US dollar: what usage takes in an hour."""

    runway: timedelta | None = None
    """How long the balance lasts, 10,000 years at most: zero if nothing is left, absent if nothing is used."""

    empty_time: datetime | None = None
    """When the balance is spent; absent if nothing is left, if nothing is used, and after the year 9999."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentDispute:
    """A dispute of a payment, an inquiry about it, or a warning that it is fraud."""

    payment_id: str
    """The payment provider's id of the payment."""

    kind: str
    """`dispute`, `inquiry` (the bank only asks, and takes nothing) or `fraud_warning`."""

    reference: str
    """The payment provider's id of the dispute or the warning."""

    amount_micros: int
    """Millionths of a US dollar: what is disputed, with tax; for a fraud warning, the whole payment."""

    reason: str
    """In the payment provider's words, such as `fraudulent`; empty if it is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentDisputeEnd:
    """The end of a dispute, an inquiry or a warning."""

    payment_id: str
    """The payment provider's id of the payment."""

    reference: str
    """The payment provider's id of the dispute or the warning."""

    outcome: str
    """`won`, `lost` or `closed` (neither side lost an inquiry or a warning). One that is lost may be won
    later, on appeal.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class CardExpiry:
    """The saved card, which automatic top-ups charge, expires soon."""

    brand: str
    """In the payment provider's words, such as `visa`."""

    last4: str
    """The last four digits of its number."""

    expires: str
    """The last month in which it pays, such as `2026-12`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictingDuplicates:
    """Reports of known usage records with other values, since the last such event."""

    count: int
    """How many; a record that was reported twice counts twice."""

    ids: list[str]
    """The first of their ids, at most ten, each once."""

    first_time: datetime | None = None
    """When the first of them came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRetirement:
    """A key that a rotation replaced, and that is still in use, stops working soon."""

    key_id: str
    """The id of the old API key or device credential."""

    name: str
    """Its name."""

    kind: str
    """`backend`, `relay` or `device`."""

    retire_time: datetime | None = None
    """When it stops working."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookPause:
    """A webhook was paused, because its deliveries failed."""

    webhook_id: str
    """The id of the webhook."""

    host: str
    """The host of its address, with the port if it has one."""

    description: str
    """What the tenant calls it; empty if it has no description."""

    reason: str
    """`failing`: it failed too often; `gone`: it answered 410."""

    seq: int
    """The number of the event that could not be delivered; it is sent first when the webhook is resumed."""

    attempts: int
    """How often that was tried."""

    status: int
    """The HTTP status of the last answer; 0 if there was none."""

    error: str
    """Why there was no answer; empty if there was one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetAlert:
    """A share of a budget is spent."""

    budget: str
    """The id of the budget."""

    percent: int
    """The share that is spent, in percent."""

    spent_micros: int
    """Millionths of a US dollar: what was charged in this period."""

    limit_micros: int
    """Millionths of a US dollar: the budget."""

    period_start_time: datetime | None = None
    """When the period began."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadyStatement:
    """The statement of a month is ready: the balance moved in it."""

    month: str
    """Such as `2026-10`, in UTC."""

    opening_micros: int
    """Millionths of a US dollar: the balance at the start of the month."""

    closing_micros: int
    """Millionths of a US dollar: the balance at its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantExpiry:
    """Granted credit ends soon, and not all of it is spent."""

    grant_id: str
    """The id of the grant."""

    reason: str
    """Why it was granted."""

    amount_micros: int
    """What was granted, in micros: millionths of a US dollar."""

    left_micros: int
    """What is left of it. It leaves the balance at the end."""

    expire_time: datetime | None = None
    """When it ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened to a tenant or one of its rooms. The resource is as it was just after the event."""

    seq: int
    """1, 2, 3, ... for each tenant, without a gap."""

    time: datetime | None = None
    """When it happened."""

    room_uid: str
    """Uid of the room; empty if the event concerns the whole tenant. A stream of one room omits such events."""

    room: Room | None = None
    """A room."""

    participant: Participant | None = None
    """A participant."""

    moderation: ModerationEvent | None = None
    """What a moderator did."""

    watchdog: Watchdog | None = None
    """A watchdog."""

    bookmark: Bookmark | None = None
    """A place in the stream."""

    reset: Reset | None = None
    """A new beginning: the stream is new, or the reader's place is too old."""

    credit: CreditChange | None = None
    """The balance."""

    top_up: TopUp | None = None
    """A payment."""

    payment_reversal: PaymentReversal | None = None
    """A refund or a dispute."""

    tenant_status: TenantStatusChange | None = None
    """The tenant."""

    api_key: ApiKeyChange | None = None
    """An API key."""

    device_credential: DeviceCredentialChange | None = None
    """A device credential."""

    balance_alert: BalanceAlert | None = None
    """The balance, and a threshold that it crossed."""

    runway_alert: RunwayAlert | None = None
    """How long the balance lasts, and a threshold that this crossed."""

    payment_dispute: PaymentDispute | None = None
    """A dispute, an inquiry or a fraud warning."""

    payment_dispute_end: PaymentDisputeEnd | None = None
    """The end of one of these."""

    card_expiry: CardExpiry | None = None
    """The saved card."""

    conflicting_duplicates: ConflictingDuplicates | None = None
    """Reports of usage records."""

    key_retirement: KeyRetirement | None = None
    """An API key or a device credential that was replaced."""

    webhook_pause: WebhookPause | None = None
    """A webhook."""

    budget_alert: BudgetAlert | None = None
    """A budget, and what of it is spent."""

    ready_statement: ReadyStatement | None = None
    """The statement of a month."""

    grant_expiry: GrantExpiry | None = None
    """Credit that the operator granted."""

    type: EventType
    """What happened."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MintedToken:
    """The token."""

    token: Secret
    """For the device and its relay. Treat it as opaque."""

    expire_time: datetime
    """When it expires. Renew it before then."""

    room: str
    """The room."""

    username: str
    """The user, after normalisation."""

    key_id: str
    """The key that signed it."""

    device_thumbprint: str
    """The device."""

    room_uid: str
    """The incarnation of the room."""

    withheld_capabilities: list[str]
    """Capabilities that the token lacks because a moderator revoked them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moderated:
    """The user who was kicked."""

    participant: Participant
    """The participant after the change."""

    event: ModerationEvent | None = None
    """The moderation record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ban:
    """A ban. While it is in force, mints and joins for its subject are refused, and relays refuse its tokens
    that are still valid.
    """

    id: str
    """`ban_<32 hex>`."""

    room: str
    """Name of the room; empty: every room of the tenant."""

    room_uid: str
    """Uid of the room of that name in which the ban was set. The ban holds for later rooms of the name, too."""

    username: str | None = None
    """A user, after normalisation."""

    device_thumbprint: str | None = None
    """A device, by the thumbprint of its key."""

    cidr: str | None = None
    """A range of addresses in canonical form, such as `192.0.2.0/24` or `2001:db8::/48`."""

    create_time: datetime | None = None
    """When it was set."""

    expire_time: datetime | None = None
    """When it expires; absent: never."""

    reason: str
    """The reason given last."""

    actor: str
    """The participant who set it; of several, the one with the highest rank. Empty: the tenant."""

    rank: int
    """That participant's rank. An actor of a lower rank cannot lift the ban."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Banned:
    """The ban in force."""

    ban: Ban
    """The ban."""

    event: ModerationEvent | None = None
    """The record of it; absent if the ban was already as strong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedRoom:
    """The room that was closed."""

    room: Room
    """The room."""

    event: ModerationEvent | None = None
    """The moderation record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedCredential:
    """The device credential that was created."""

    device_credential: DeviceCredential
    """The credential."""

    credential: Secret
    """The secret that the device sends. Keep it: only this response and its retries contain it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RotatedCredential:
    """The replacement."""

    device_credential: DeviceCredential
    """The new credential, with the same name and rights."""

    credential: Secret
    """The secret that the device sends. Keep it: only this response and its retries contain it."""

    old_credential_retire_time: datetime
    """When the old one stops working."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedEvents:
    """A page of events, in order."""

    events: list[Event]
    """Empty if nothing happened in time, or if a search for the room's events found none within 5 s."""

    resume_token: str
    """Continue here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedEvent(Event):
    """An event, and where to go on after it."""

    resume_token: str
    """Store it to go on after this event. Empty inside of a snapshot, which cannot be resumed."""


class Actor(TypedDict, total=False):
    """The participant on whose behalf a call is made. The actor must be a participant of the room in the call.
    A call without an actor is the tenant's own: it has every capability and rank 100. A call with an actor
    has the capabilities and the rank of the newest token for the actor's device. It fails with
    PERMISSION_DENIED if the capability is missing (CAPABILITY_REQUIRED), or if the target's rank is not
    lower than the actor's (INSUFFICIENT_STANDING).
    """

    username: str
    """The participant, as in Participant.username."""

    device_thumbprint: str
    """The device that the participant's token is bound to: 43 characters of base64url (RFC 7638)."""


class RoomPolicyInput(TypedDict, total=False):
    """The rules of a room. `mode` to `region` are fixed when it is created."""

    mode: RoomMode
    """Immutable."""

    e2ee_required: bool
    """Clients must not publish without a key for end-to-end encryption, and relays refuse plain media as far
    as they can tell. Immutable.
    """

    age_verification_required: bool
    """Mints need `age_verified`, and joins with device credentials are refused. Immutable."""

    region: str
    """Where relays should serve the room: at most 64 characters of `[a-z0-9-]`. Immutable. The service does
    not interpret it.
    """

    max_participants: int
    """How many users may be present, 0 to 100000; 0 is no limit. Beyond it, new users get ROOM_FULL."""

    locked: bool
    """New users are refused (ROOM_LOCKED); users who are present may renew."""

    host_capabilities: Sequence[str]
    """What a host gets when a token is minted without capabilities; empty: all capabilities of a host."""

    audience_capabilities: Sequence[str]
    """The same for the roles `audience` and `broadcast_audience`. Joins with device credentials get none that
    is not among them.
    """

    mute_on_entry: bool
    """Clients start with the microphone off, and relays forward no sound of a new publisher. Users may turn it
    on.
    """


class CreateRoom(MutationOptions, total=False):
    """The room to create."""

    room: Required[str]
    """Its name: `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`."""

    policy: RoomPolicyInput
    """Its rules; absent: a meeting without limits."""

    metadata: str
    """Your own text, at most 4096 characters. It cannot be changed later."""


class GetRoom(CallOptions, total=False):
    """The room to read."""

    room: str
    """Its name. Of several rooms with the name, it means the live one, or else the one that ended last."""

    room_uid: str
    """Its uid, to select any of them. The name is then optional."""


class ListRooms(CallOptions, total=False):
    """Which rooms to list."""

    state: RoomState
    """Only rooms in this state; STATE_UNSPECIFIED: in any."""

    name_prefix: str
    """Only rooms whose names begin with this."""

    create_time_from: datetime
    """Only rooms created at this time or later."""

    create_time_before: datetime
    """Only rooms created before this time."""

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class UpdateRoomPolicy(MutationOptions, total=False):
    """The rules to change."""

    room: Required[str]
    """Name of a live room."""

    policy: Required[RoomPolicyInput]
    """The new values of the fields of `update_mask`."""

    actor: Actor
    """The acting participant: one with `room.update_policy`, and with every capability that the new rules add
    to a role; absent: the tenant.
    """


class EndRoom(MutationOptions, total=False):
    """The room to end."""

    room: Required[str]
    """Name of a live room."""

    actor: Actor
    """The acting participant: one with `room.end`; absent: the tenant."""


class WatchEvents(CallOptions, total=False):
    """What to follow, and where to begin."""

    resume_token: str
    """`resume_token` of the last response that you processed; empty: begin with a snapshot. A token from a
    stream of another `room` is INVALID_ARGUMENT.
    """

    room: str
    """Only events of rooms with this name, without those of the whole tenant; empty: all events. NOT_FOUND if
    no room ever had the name.
    """


class ListEvents(CallOptions, total=False):
    """Where to begin, and how long to wait."""

    resume_token: str
    """`resume_token` of the previous page; empty: begin with the oldest event that is kept. Events are kept
    for 7 days, or longer if the deployment says so. If the next event is no longer kept, the page begins
    with TYPE_RESET, followed by the oldest event that is. A token from a list of another `room` is
    INVALID_ARGUMENT.
    """

    room: str
    """Only events of rooms with this name, without those of the whole tenant; empty: all events. NOT_FOUND if
    no room ever had the name.
    """

    page_size: int
    """1 to 500; 0 is 50."""

    wait: timedelta
    """How long to wait for the next event if there is none yet, up to 30 s; absent: do not wait."""


class GetParticipant(CallOptions, total=False):
    """The participant to read."""

    room: str
    """Name of the room. Of several with the name, it means the live one, or else the one that ended last."""

    room_uid: str
    """Uid of the room, to select any of them. The name is then optional."""

    username: Required[str]
    """The user."""

    actor: Actor
    """The acting participant: one with `roster.view`; absent: the tenant."""


class ListParticipants(CallOptions, total=False):
    """Which participants to list."""

    room: str
    """Name of the room. Of several with the name, it means the live one, or else the one that ended last."""

    room_uid: str
    """Uid of the room, to select any of them. The name is then optional."""

    include_left: bool
    """Also list participants who have left. They are kept for 7 days; those who are muted or may not publish
    are kept until 7 days after their room ended.
    """

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page of this room; empty: the first page."""

    actor: Actor
    """The acting participant: one with `roster.view`; absent: the tenant."""


class WatchParticipants(CallOptions, total=False):
    """Which room to follow, and from where."""

    room: Required[str]
    """Name of a room. Later rooms with this name are followed, too."""

    resume_token: str
    """`resume_token` of the last response that you processed; empty: begin with a snapshot. A token from a
    stream of another `room` or another actor is INVALID_ARGUMENT.
    """

    actor: Actor
    """The acting participant: one with `roster.view`; absent: the tenant."""


class KickParticipant(MutationOptions, total=False):
    """The user to kick."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """A participant of the room, present or left."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.kick`; absent: the tenant."""


class BanSubject(MutationOptions, total=False):
    """The ban to set."""

    room: str
    """Name of a live room; empty: every room of the tenant, which excludes an actor."""

    username: str
    """A user, by name."""

    device_thumbprint: str
    """A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638)."""

    cidr: str
    """A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6."""

    ttl: timedelta
    """How long it lasts, also when the room ends and is made again; absent or 0: until it is lifted."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.ban`; absent: the tenant."""


class UnbanSubject(MutationOptions, total=False):
    """The ban to lift."""

    room: str
    """Name of a room, which may have ended; empty: the ban of the whole tenant."""

    username: str
    """A user, by name."""

    device_thumbprint: str
    """A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638)."""

    cidr: str
    """A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6."""

    actor: Actor
    """The acting participant: one with `moderate.ban` and at least the rank of the ban; absent: the tenant."""


class ListBans(CallOptions, total=False):
    """Which bans to list."""

    room: str
    """Name of a room, to list its own bans; empty: all bans of the tenant and its rooms."""

    username: str
    """A user, by name."""

    device_thumbprint: str
    """A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638)."""

    cidr: str
    """A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6."""

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class ForceMute(MutationOptions, total=False):
    """The tracks to mute."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """A participant of the room, present or left."""

    tracks: Required[Sequence[TrackKind]]
    """At least one."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.mute`; absent: the tenant."""


class ReleaseMute(MutationOptions, total=False):
    """The tracks that the user may unmute."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """A participant of the room, present or left."""

    tracks: Required[Sequence[TrackKind]]
    """At least one."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.mute`; absent: the tenant."""


class RevokePublish(MutationOptions, total=False):
    """The tracks that the user may no longer publish."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """A participant of the room, present or left."""

    tracks: Required[Sequence[TrackKind]]
    """At least one."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.revoke_publish`; absent: the tenant."""


class RestorePublish(MutationOptions, total=False):
    """The tracks that the user may publish again."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """A participant of the room, present or left."""

    tracks: Required[Sequence[TrackKind]]
    """At least one."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.revoke_publish`; absent: the tenant."""


class CloseRoom(MutationOptions, total=False):
    """The room to close."""

    room: Required[str]
    """Name of a live room."""

    reason: str
    """At most 500 characters; stored with the record."""

    actor: Actor
    """The acting participant: one with `moderate.close_room`; absent: the tenant."""


class ListModerationEvents(CallOptions, total=False):
    """Which records to list."""

    room: str
    """Only actions in rooms of this name; empty: in any. NOT_FOUND if no room ever had the name."""

    username: str
    """Only actions against this user; empty: against anyone."""

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class MintClientToken(CallOptions, total=False):
    """What the token should grant."""

    room: Required[str]
    """Name of a live room."""

    username: Required[str]
    """The user; 1 to 64 characters after normalisation (RFC 8265, UsernameCaseMapped)."""

    device_thumbprint: Required[str]
    """Thumbprint of the device's key (RFC 7638): 43 characters of base64url. The token works only with that
    key.
    """

    role: Role
    """`host`, `audience` or `broadcast_audience`; empty: `audience`."""

    capabilities: Sequence[str]
    """Exactly what the participant may do; empty: what the room's policy gives to the role."""

    rank: int
    """0 to 99; absent: 80 for `host`, 20 for `audience`, 10 for `broadcast_audience`."""

    lifetime: timedelta
    """More than 0 and at most 15 minutes, in whole seconds; absent: 10 minutes, or the key's ceiling if that
    is lower.
    """

    age_verified: bool
    """Whether you have verified the user's age. Rooms may require it."""

    client_address: str
    """The device's address, to check against banned ranges; if empty, only relays check it."""

    customer: str
    """Your own name for the customer that the user belongs to, for budgets: one line of 1 to 128 characters,
    without marks of direction; empty: none. Choose one that names no person.
    """


class CreateDeviceCredential(MutationOptions, total=False):
    """The device credential to create."""

    name: Required[str]
    """1 to 100 characters."""

    publish: Required[Sequence[TrackKind]]
    """What devices may publish with it."""

    rooms: Sequence[str]
    """Names and patterns of rooms, at most 20; empty: every room."""

    default_room: str
    """The room for joins that name none; empty: `lobby`."""

    expire_time: datetime
    """When it expires; absent: never."""


class ListDeviceCredentials(CallOptions, total=False):
    """Which device credentials to list."""

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""


class RotateDeviceCredential(MutationOptions, total=False):
    """The device credential to replace."""

    id: Required[str]
    """The credential's id."""

    overlap: timedelta
    """How long the old one keeps working: whole seconds, 0 to 7 days; absent: a day."""


class RevokeDeviceCredential(MutationOptions, total=False):
    """The device credential to revoke."""

    id: Required[str]
    """The credential's id."""


class CreateWatchdog(MutationOptions, total=False):
    """The watchdog to arm."""

    room: Required[str]
    """Name of the room."""

    max_duration: timedelta
    """Time since the room was created."""

    unused_for: timedelta
    """Time since the room was created, while no participant has ever entered."""

    empty_for: timedelta
    """Time since the last participant left."""

    host_absent_for: timedelta
    """Time since a host was last present: since the host's newest usage record if relays report any, else
    since the host's tokens expired. If no host ever entered, time since the room was created.
    """

    alone_for: timedelta
    """Time since all but one user have left."""

    participant_max_duration: timedelta
    """Time since a participant entered; fires once for each. Not with ACTION_END_ROOM."""

    unadmitted_for: timedelta
    """Time since the tenant ran out of credit or stopped being active."""

    action: Required[WatchdogAction]
    """What it does. Every condition allows every action, with two exceptions: `unused_for` and `empty_for` do
    not allow KICK and REVOKE_PUBLISH; `participant_max_duration` does not allow END_ROOM.
    """

    warn_before: timedelta
    """How long before firing an event warns of it; absent or 0: no warning. Shorter than the condition. If the
    warning comes late, the watchdog fires that long after it.
    """

    actor: Actor
    """The acting participant: one with `watchdog.manage`; absent: the tenant."""


class GetWatchdog(CallOptions, total=False):
    """The watchdog to read."""

    id: Required[str]
    """Its id."""

    actor: Actor
    """The acting participant: one with `watchdog.manage`; absent: the tenant."""


class ListWatchdogs(CallOptions, total=False):
    """Which watchdogs to list."""

    room: str
    """Only those of the live room of this name; empty: all of the tenant, which excludes an actor."""

    page_size: int
    """1 to 500; 0 is 50."""

    page_token: str
    """`next_page_token` of the previous page; empty: the first page."""

    actor: Actor
    """The acting participant: one with `watchdog.manage`; absent: the tenant."""


class UpdateWatchdog(MutationOptions, total=False):
    """The watchdog to change."""

    id: Required[str]
    """`wd_<32 hex>`, chosen by the service. In an update, the watchdog to change."""

    max_duration: timedelta
    """Time since the room was created."""

    unused_for: timedelta
    """Time since the room was created, while no participant has ever entered."""

    empty_for: timedelta
    """Time since the last participant left."""

    host_absent_for: timedelta
    """Time since a host was last present: since the host's newest usage record if relays report any, else
    since the host's tokens expired. If no host ever entered, time since the room was created.
    """

    alone_for: timedelta
    """Time since all but one user have left."""

    participant_max_duration: timedelta
    """Time since a participant entered; fires once for each. Not with ACTION_END_ROOM."""

    unadmitted_for: timedelta
    """Time since the tenant ran out of credit or stopped being active."""

    action: WatchdogAction
    """What it does. Every condition allows every action, with two exceptions: `unused_for` and `empty_for` do
    not allow KICK and REVOKE_PUBLISH; `participant_max_duration` does not allow END_ROOM.
    """

    warn_before: timedelta
    """How long before firing an event warns of it; absent or 0: no warning. Shorter than the condition. If the
    warning comes late, the watchdog fires that long after it.
    """

    actor: Actor
    """The acting participant: one with `watchdog.manage`; absent: the tenant."""


class DeleteWatchdog(MutationOptions, total=False):
    """The watchdog to delete."""

    id: Required[str]
    """Its id."""

    actor: Actor
    """The acting participant: one with `watchdog.manage`; absent: the tenant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomPolicyData:
    """The rules of the room, as an event tells of it."""

    mode: str
    """`MEETING`: any participant may get the right to publish; `BROADCAST`: few publish."""

    e2ee_required: bool
    """Media must be encrypted from end to end."""

    age_verification_required: bool
    """Only users whose age was verified may enter."""

    region: str
    """Where relays should serve the room. May be empty."""

    max_participants: int
    """How many users may be present. 0: no limit."""

    locked: bool
    """New users may not enter."""

    host_capabilities: list[str]
    """What tokens of hosts grant if a mint names nothing. Empty: the usual."""

    audience_capabilities: list[str]
    """The same for the other roles."""

    mute_on_entry: bool
    """Clients start with the microphone off."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomData:
    """A room, as an event tells of it."""

    name: str
    """The name of the room."""

    uid: str
    """Identifies the room. A later room of the name has another one."""

    state: str
    """Whether users may still enter."""

    policy: RoomPolicyData
    """The rules of the room."""

    created_at: datetime
    """When it was created."""

    ended_at: datetime | None = None
    """When it ended. Absent: it is live."""

    end_reason: str | None = None
    """`closed`: by a moderator. Absent: it is live."""

    participant_count: int
    """How many users are present."""

    metadata: str
    """The tenant's own text. May be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParticipantDeviceData:
    """A device of the user, as an event tells of it."""

    thumbprint: str
    """The thumbprint of the key of the device."""

    key_id: str
    """The API key or device credential that asked for its last token."""

    customer: str | None = None
    """The customer that the mint of its last token named. Absent: none."""

    expires_at: datetime
    """When its last token expires."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParticipantData:
    """A user in a room, as an event tells of it."""

    room: str
    """The name of the room."""

    room_uid: str
    """The uid of the room, which no later room of the name has."""

    username: str
    """The name of the user."""

    role: Role
    """The role in the room."""

    rank: int
    """0 to 99. Moderators act only on lower ranks."""

    capabilities: list[str]
    """What the user may do, without what a moderator has taken away."""

    muted: list[str]
    """What a moderator has muted."""

    publish_revoked: list[str]
    """What a moderator has revoked the right to publish."""

    tier: Tier | None = None
    """The tier of the newest usage record. Absent: none yet."""

    entered_at: datetime
    """When the user last entered."""

    last_seen_at: datetime | None = None
    """When the newest usage record arrived. Absent: none yet."""

    expires_at: datetime
    """When the last token expires."""

    left_at: datetime | None = None
    """When the user left. Absent: the user is present."""

    leave_reason: LeaveReason | None = None
    """Why the user left. Absent: the user is present."""

    devices: list[ParticipantDeviceData]
    """Devices with valid tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModerationSubjectData:
    """On whom or what the moderator acted. Absent: on the room, as an event tells of it."""

    kind: str
    """What `value` is."""

    value: str
    """A username, the thumbprint of a device, or a range of addresses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModerationData:
    """What a moderator did, as an event tells of it."""

    id: int
    """The number of the event. The record of the act has it as its id."""

    action: str
    """What was done."""

    room: str | None = None
    """The name of the room. Absent: the whole tenant."""

    room_uid: str | None = None
    """The uid of the room. Absent: the whole tenant."""

    subject: ModerationSubjectData | None = None
    """On whom or what the moderator acted. Absent: on the room."""

    tracks: list[str]
    """Which tracks, for mutes and rights to publish."""

    reason: str
    """As given. May be empty."""

    actor: str | None = None
    """The participant who acted. Absent: the tenant, or a watchdog."""

    key_id: str | None = None
    """The API key of the call. Absent: a watchdog, or a person at the console."""

    member_id: str | None = None
    """The member who acted at the console. Absent: none."""

    watchdog_id: str | None = None
    """The watchdog that acted. Absent: none."""

    at: datetime
    """When it was done."""

    expires_at: datetime | None = None
    """When the ban ends. Absent: it has no end, or is no ban."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchdogData:
    """A watchdog of a room, as an event tells of it."""

    id: str
    """The id of the watchdog."""

    room: str
    """The name of the room."""

    room_uid: str
    """The uid of the room, which no later room of the name has."""

    condition: str
    """What it waits for."""

    duration_ms: int
    """How long that must last, in milliseconds."""

    action: str
    """What it does then."""

    warn_before_ms: int
    """How long before an event warns of it. 0: none does."""

    state: str
    """Where it stands."""

    deadline: datetime | None = None
    """When it will fire if nothing changes. Absent: its condition does not hold."""

    fired_at: datetime | None = None
    """When it last fired. Absent: it has not."""

    created_at: datetime
    """When it was created."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditData:
    """The balance, at zero, as an event tells of it."""

    balance: Amount
    """The balance after the change."""

    admitted: bool
    """Whether new sessions and tokens are admitted from now on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceAlertData:
    """The balance, and the threshold that it crossed, as an event tells of it."""

    balance: Amount
    """The balance after the change."""

    below: Amount
    """The threshold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunwayAlertData:
    """How long the balance lasts, and the threshold that this crossed, as an event tells of it."""

    balance: Amount
    """The balance."""

    below_hours: int
    """The threshold, in hours."""

    burn_per_hour: Amount
    """What usage takes in an hour."""

    runway_hours: float | None = None
    """How long the balance lasts. 0: nothing is left. Absent: nothing is used."""

    empty_at: datetime | None = None
    """When the balance is spent. Absent: nothing is left, nothing is used, or it lasts beyond the year 9999."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetAlertData:
    """A budget, and what of it is spent, as an event tells of it."""

    budget: str
    """The id of the budget."""

    percent: int
    """The share that is spent."""

    spent: Amount
    """What was charged in this period."""

    limit: Amount
    """What may be spent in a period."""

    period_started_at: datetime
    """When the period began."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TopUpData:
    """A payment for credit, or an attempt at one, as an event tells of it."""

    automatic: bool
    """`true`: the saved card was charged; `false`: a checkout."""

    amount: Amount
    """The credit that was to be paid for, without tax."""

    payment_id: str | None = None
    """The provider's id of the payment. Absent: there was none."""

    error: str | None = None
    """Why it failed, as in `last_top_up_error`. Absent: it succeeded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentReversalData:
    """Credit that a refund or a dispute moved, as an event tells of it."""

    payment_id: str
    """The provider's id of the payment."""

    kind: str
    """What moved the credit."""

    reference: str
    """The provider's id of the refund or dispute."""

    amount: Amount
    """Negative if credit was taken back, positive if it was given back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentDisputeData:
    """A dispute of a payment, as an event tells of it."""

    payment_id: str
    """The provider's id of the payment."""

    kind: str
    """`inquiry`: the bank only asks, and takes nothing; `fraud_warning`: of the card network, before any
    dispute.
    """

    reference: str
    """The provider's id of the dispute or warning."""

    amount: Amount
    """What is disputed, tax included. For a warning, the whole payment."""

    reason: str | None = None
    """In the provider's words, such as `fraudulent`. Absent: not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentDisputeEndData:
    """The end of a dispute, as an event tells of it."""

    payment_id: str
    """The provider's id of the payment."""

    reference: str
    """The provider's id of the dispute or warning."""

    outcome: str
    """`closed`: an inquiry or a warning ended. A lost dispute may be won later, on appeal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CardExpiryData:
    """The saved card, as an event tells of it."""

    brand: str
    """In the provider's words, such as `visa`."""

    last4: str
    """The last four digits of its number."""

    expires: str
    """The last month in which it pays, such as `2026-12`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantExpiryData:
    """Granted credit, as an event tells of it."""

    grant_id: str
    """The id of the grant."""

    reason: str
    """Why it was granted."""

    amount: Amount
    """What was granted."""

    left: Amount
    """What is not spent yet. It leaves the balance at the end."""

    expires_at: datetime
    """When it ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictingDuplicatesData:
    """The reports of known ids with other values since the last such event, as an event tells of it."""

    count: int
    """How many reports. An id that came twice counts twice."""

    ids: list[str]
    """The first of their ids, at most 10, each once."""

    first_at: datetime
    """When the first of them came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadyStatementData:
    """The statement of a month, as an event tells of it."""

    month: str
    """Such as `2026-10`."""

    opening: Amount
    """The balance at the start of the month."""

    closing: Amount
    """The balance at its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantStatusData:
    """The status of the tenant, as an event tells of it."""

    from_: TenantStatus
    """The status before."""

    to: TenantStatus
    """The status after."""

    exempt: bool
    """Whether usage is accepted without being charged."""

    admitted: bool
    """Whether new sessions and tokens are admitted from now on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyChangeData:
    """A change of an API key, as an event tells of it."""

    key: Key
    """The key. After a rotation, the new one."""

    replaced_id: str | None = None
    """The id of the old one. Absent: it was not rotated."""

    replaced_retires_at: datetime | None = None
    """When the old one stops working. Absent: it was not rotated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRetirementData:
    """A key that a rotation replaced, as an event tells of it."""

    key_id: str
    """The id of the old API key or device credential."""

    name: str
    """Its name."""

    kind: str
    """`device`: a device credential."""

    retires_at: datetime
    """When it stops working."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceCredentialData:
    """The credential. After a rotation, the new one, as an event tells of it."""

    id: str
    """The second part of the plaintext."""

    name: str
    """As given when it was created."""

    publish: list[str]
    """What devices that join with it may send."""

    rooms: list[str] | None = None
    """Names and patterns of rooms. Absent: every room."""

    default_room: str | None = None
    """The room of a join that names none. Absent: `lobby`."""

    expires_at: datetime | None = None
    """Until when it works. Absent: without an end."""

    created_at: datetime
    """When it was created."""

    retires_at: datetime | None = None
    """Until when it works beside its replacement. Absent: it was not rotated."""

    revoked_at: datetime | None = None
    """When it was revoked or retired. Absent: it was not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceCredentialChangeData:
    """A change of a device credential, as an event tells of it."""

    credential: DeviceCredentialData
    """The credential. After a rotation, the new one."""

    replaced_id: str | None = None
    """The id of the old one. Absent: it was not rotated."""

    replaced_retires_at: datetime | None = None
    """When the old one stops working. Absent: it was not rotated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookPauseData:
    """A webhook that was paused, as an event tells of it."""

    webhook_id: str
    """The id of the webhook."""

    host: str
    """The host of its address, and the port if it has one."""

    description: str | None = None
    """As given. Absent: it has none."""

    reason: str
    """`failing`: the last attempt of a delivery failed; `gone`: the answer was 410."""

    seq: int
    """The number of the event that could not be delivered."""

    attempts: int
    """How often that was tried."""

    status: int | None = None
    """The status of the last answer. Absent: there was none."""

    error: str | None = None
    """Why there was no answer. Absent: there was one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookTestData:
    """A test, as an event tells of it."""

    message: str
    """A sentence for people."""


EventData: TypeAlias = Union[
    RoomData,
    ParticipantData,
    ModerationData,
    WatchdogData,
    CreditData,
    BalanceAlertData,
    RunwayAlertData,
    BudgetAlertData,
    TopUpData,
    PaymentReversalData,
    PaymentDisputeData,
    PaymentDisputeEndData,
    CardExpiryData,
    GrantExpiryData,
    ConflictingDuplicatesData,
    ReadyStatementData,
    TenantStatusData,
    KeyChangeData,
    KeyRetirementData,
    DeviceCredentialChangeData,
    WebhookPauseData,
    WebhookTestData,
]
"""What an event is about."""


EVENT_DATA: Mapping[str, type[EventData]] = {
    "room_created": RoomData,
    "room_updated": RoomData,
    "room_ended": RoomData,
    "participant_entered": ParticipantData,
    "participant_updated": ParticipantData,
    "participant_left": ParticipantData,
    "moderation": ModerationData,
    "watchdog_warned": WatchdogData,
    "watchdog_rearmed": WatchdogData,
    "watchdog_fired": WatchdogData,
    "credit_spent": CreditData,
    "credit_restored": CreditData,
    "balance_low": BalanceAlertData,
    "balance_recovered": BalanceAlertData,
    "runway_low": RunwayAlertData,
    "runway_recovered": RunwayAlertData,
    "budget_alert": BudgetAlertData,
    "top_up_succeeded": TopUpData,
    "top_up_failed": TopUpData,
    "payment_reversed": PaymentReversalData,
    "payment_disputed": PaymentDisputeData,
    "payment_dispute_closed": PaymentDisputeEndData,
    "card_expiring": CardExpiryData,
    "grant_expiring": GrantExpiryData,
    "conflicting_duplicates": ConflictingDuplicatesData,
    "statement_ready": ReadyStatementData,
    "tenant_status_changed": TenantStatusData,
    "key_created": KeyChangeData,
    "key_rotated": KeyChangeData,
    "key_revoked": KeyChangeData,
    "key_retiring": KeyRetirementData,
    "device_credential_created": DeviceCredentialChangeData,
    "device_credential_rotated": DeviceCredentialChangeData,
    "device_credential_revoked": DeviceCredentialChangeData,
    "webhook_paused": WebhookPauseData,
    "webhook_test": WebhookTestData,
}
"""By type of event, what its data is."""
