/** Messages of the control plane. Made by scripts/make-control-types.ts; not to be edited. */

/** One incarnation of a room. After it ends, a new room with another uid may use the name. */
export interface Room {
  /** `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`; unique among a tenant's live rooms. */
  name: string;
  /** Identifies this incarnation; `rid` in its tokens. */
  uid: string;
  /** Whether users may still enter. */
  state: 'live' | 'ended' | 'unknown';
  /** Its rules. */
  policy?: RoomPolicy;
  /** When it was created. */
  createTime?: Date;
  /** When it ended; absent while it is live. */
  endTime?: Date;
  /** Why it ended: `ended`, `closed` by a moderator, or `watchdog`. */
  endReason: string;
  /** How many users are present: see Participant. */
  participantCount: number;
  /** The tenant's own text, set when the room is created; at most 4096 characters. */
  metadata: string;
}

/** The rules of a room. `mode` to `region` are fixed when it is created. */
export interface RoomPolicy {
  /** Immutable. */
  mode: 'meeting' | 'broadcast' | 'unknown';
  /**
   * Clients must not publish without a key for end-to-end encryption, and relays refuse plain media as far
   * as they can tell. Immutable.
   */
  e2eeRequired: boolean;
  /** Mints need `ageVerified`, and joins with device credentials are refused. Immutable. */
  ageVerificationRequired: boolean;
  /**
   * Where relays should serve the room: at most 64 characters of `[a-z0-9-]`. Immutable. The service does
   * not interpret it.
   */
  region: string;
  /** How many users may be present, 0 to 100000; 0 is no limit. Beyond it, new users get ROOM_FULL. */
  maxParticipants: number;
  /** New users are refused (ROOM_LOCKED); users who are present may renew. */
  locked: boolean;
  /** What a host gets when a token is minted without capabilities; empty: all capabilities of a host. */
  hostCapabilities: string[];
  /**
   * The same for the roles `audience` and `broadcast_audience`. Joins with device credentials get none that
   * is not among them.
   */
  audienceCapabilities: string[];
  /**
   * Clients start with the microphone off, and relays forward no sound of a new publisher. Users may turn it
   * on.
   */
  muteOnEntry: boolean;
}

/**
 * A user in a room, on one device or several. The service learns about participants from minted tokens, from
 * joins with device credentials, and from the usage records of relays, which arrive a little later. A user
 * enters with the first token and is present until the last token expires or is revoked. Relays do not
 * report who hung up, so a user who did counts as present for up to 15 more minutes.
 */
export interface Participant {
  /** Name of the room. */
  room: string;
  /** Its uid. */
  roomUid: string;
  /** The username as tokens carry it, normalised (RFC 8265, UsernameCaseMapped). */
  username: string;
  /** Whether the user may be in the room. */
  state: 'present' | 'left' | 'unknown';
  /**
   * `host`, `audience` or `broadcast_audience`. Set by the last mint, or by a join if the user has no valid
   * token of a higher rank.
   */
  role: string;
  /** 0 to 99, set like the role. Moderators act only on lower ranks. */
  rank: number;
  /** Set like the role, sorted, without those that a moderator has revoked since. */
  capabilities: string[];
  /**
   * Tier of the newest usage record: `audio`, `hd`, `full_hd`, `2k` or `2k_plus`; empty before the first.
   */
  tier: string;
  /** What a moderator has muted. */
  muted: ('audio' | 'video' | 'screen' | 'data' | 'unknown')[];
  /** What a moderator has revoked the right to publish. */
  publishRevoked: ('audio' | 'video' | 'screen' | 'data' | 'unknown')[];
  /** When the user last entered. */
  enterTime?: Date;
  /** When the newest usage record arrived; absent before the first. */
  lastSeenTime?: Date;
  /** When the last token expires. */
  expireTime?: Date;
  /** When the user left; absent while present. */
  leaveTime?: Date;
  /**
   * Why the user left: `expired` (also when the device credential was revoked), `kicked`, `banned`, `ended`
   * (the room) or `watchdog`; empty while present.
   */
  leaveReason: string;
  /** Devices with unexpired tokens. */
  devices: Device[];
}

/** A device of the user. */
export interface Device {
  /** The device's key: 43 characters of base64url (RFC 7638). */
  thumbprint: string;
  /** The API key or device credential that asked for its last token. */
  keyId: string;
  /** When its last token expires. */
  expireTime?: Date;
  /** The customer that the mint of its last token named; empty if it named none. */
  customer: string;
}

/**
 * A ban. While it is in force, mints and joins for its subject are refused, and relays refuse its tokens
 * that are still valid.
 */
export interface Ban {
  /** `ban_<32 hex>`. */
  id: string;
  /** Name of the room; empty: every room of the tenant. */
  room: string;
  /**
   * Uid of the room of that name in which the ban was set. The ban holds for later rooms of the name, too.
   */
  roomUid: string;
  /** A user, after normalisation. */
  username?: string;
  /** A device, by the thumbprint of its key. */
  deviceThumbprint?: string;
  /** A range of addresses in canonical form, such as `192.0.2.0/24` or `2001:db8::/48`. */
  cidr?: string;
  /** When it was set. */
  createTime?: Date;
  /** When it expires; absent: never. */
  expireTime?: Date;
  /** The reason given last. */
  reason: string;
  /** The participant who set it; of several, the one with the highest rank. Empty: the tenant. */
  actor: string;
  /** That participant's rank. An actor of a lower rank cannot lift the ban. */
  rank: number;
}

/** What a moderator did. The record is kept for ever and never changes. */
export interface ModerationEvent {
  /** The `seq` of the event that reported it: it grows with every event of the tenant. */
  id: bigint;
  /** What was done. */
  action:
    | 'kick'
    | 'ban'
    | 'unban'
    | 'force_mute'
    | 'release_mute'
    | 'revoke_publish'
    | 'restore_publish'
    | 'close_room'
    | 'unknown';
  /** Name of the room; empty for a ban of the whole tenant. */
  room: string;
  /** Its uid. */
  roomUid: string;
  /** A user. */
  username?: string;
  /** A device. */
  deviceThumbprint?: string;
  /** A range of addresses. */
  cidr?: string;
  /** The tracks, for mutes and publishing rights. */
  tracks: ('audio' | 'video' | 'screen' | 'data' | 'unknown')[];
  /** The reason given in the request. */
  reason: string;
  /** The acting participant; empty: the tenant, or a watchdog. */
  actor: string;
  /** The API key of the call; empty for a watchdog. */
  keyId: string;
  /** When it happened. */
  time?: Date;
  /** When the ban ends; absent: never. */
  expireTime?: Date;
  /** The watchdog that did it; empty for a call. */
  watchdogId: string;
}

/** A timer on a condition of a room. It acts once the condition has held for long enough. */
export interface Watchdog {
  /** `wd_<32 hex>`, chosen by the service. In an update, the watchdog to change. */
  id: string;
  /** Name of the room. */
  room: string;
  /** Time since the room was created. */
  maxDurationSeconds?: number;
  /** Time since the room was created, while no participant has ever entered. */
  unusedForSeconds?: number;
  /** Time since the last participant left. */
  emptyForSeconds?: number;
  /**
   * Time since a host was last present: since the host's newest usage record if relays report any, else
   * since the host's tokens expired. If no host ever entered, time since the room was created.
   */
  hostAbsentForSeconds?: number;
  /** Time since all but one user have left. */
  aloneForSeconds?: number;
  /** Time since a participant entered; fires once for each. Not with ACTION_END_ROOM. */
  participantMaxDurationSeconds?: number;
  /** Time since the tenant ran out of credit or stopped being active. */
  unadmittedForSeconds?: number;
  /**
   * What it does. Every condition allows every action, with two exceptions: `unusedForSeconds` and
   * `emptyForSeconds` do not allow KICK and REVOKE_PUBLISH; `participantMaxDurationSeconds` does not allow
   * END_ROOM.
   */
  action: 'end_room' | 'kick' | 'revoke_publish' | 'notify' | 'unknown';
  /**
   * How long before firing an event warns of it; absent or 0: no warning. Shorter than the condition. If the
   * warning comes late, the watchdog fires that long after it.
   */
  warnBeforeSeconds?: number;
  /** Where it stands. Output only. */
  state: 'armed' | 'warned' | 'fired' | 'disarmed' | 'unknown';
  /**
   * When it will fire if nothing changes; absent while the condition does not hold. A late warning moves it.
   * Output only.
   */
  deadline?: Date;
  /** When it last fired. Output only. */
  fireTime?: Date;
  /** Uid of the room. Output only. */
  roomUid: string;
  /** When it was created. Output only. */
  createTime?: Date;
}

/**
 * A device without a back end joins rooms with this credential. The REST interface manages the same
 * credentials.
 */
export interface DeviceCredential {
  /** 16 hex characters. */
  id: string;
  /** 1 to 100 characters. */
  name: string;
  /** What devices may publish with it. Empty: joins with it are refused. */
  publish: ('audio' | 'video' | 'screen' | 'data' | 'unknown')[];
  /** Names of rooms, and patterns in which `*` matches any characters; empty: every room. */
  rooms: string[];
  /** The room for joins that name none; empty: `lobby`. */
  defaultRoom: string;
  /** When it expires; absent: never. */
  expireTime?: Date;
  /** When it was created. */
  createTime?: Date;
  /** When it stops working; set only during the overlap of a rotation. */
  retireTime?: Date;
  /** When it was revoked; absent if it was not. */
  revokeTime?: Date;
}

/**
 * Something that happened to a tenant or one of its rooms. The resource is as it was just after the event.
 */
export interface Event {
  /** 1, 2, 3, ... for each tenant, without a gap. */
  seq: bigint;
  /** When it happened. */
  time?: Date;
  /**
   * Uid of the room; empty if the event concerns the whole tenant. A stream of one room omits such events.
   */
  roomUid: string;
  /** A room. */
  room?: Room;
  /** A participant. */
  participant?: Participant;
  /** What a moderator did. */
  moderation?: ModerationEvent;
  /** A watchdog. */
  watchdog?: Watchdog;
  /** A place in the stream. */
  bookmark?: Bookmark;
  /** A new beginning: the stream is new, or the reader's place is too old. */
  reset?: Reset;
  /** The balance. */
  credit?: CreditChange;
  /** A payment. */
  topUp?: TopUp;
  /** A refund or a dispute. */
  paymentReversal?: PaymentReversal;
  /** The tenant. */
  tenantStatus?: TenantStatusChange;
  /** An API key. */
  apiKey?: ApiKeyChange;
  /** A device credential. */
  deviceCredential?: DeviceCredentialChange;
  /** The balance, and a threshold that it crossed. */
  balanceAlert?: BalanceAlert;
  /** How long the balance lasts, and a threshold that this crossed. */
  runwayAlert?: RunwayAlert;
  /** A dispute, an inquiry or a fraud warning. */
  paymentDispute?: PaymentDispute;
  /** The end of one of these. */
  paymentDisputeEnd?: PaymentDisputeEnd;
  /** The saved card. */
  cardExpiry?: CardExpiry;
  /** Reports of usage records. */
  conflictingDuplicates?: ConflictingDuplicates;
  /** An API key or a device credential that was replaced. */
  keyRetirement?: KeyRetirement;
  /** A webhook. */
  webhookPause?: WebhookPause;
  /** A budget, and what of it is spent. */
  budgetAlert?: BudgetAlert;
  /** The statement of a month. */
  readyStatement?: ReadyStatement;
  /** Credit that the operator granted. */
  grantExpiry?: GrantExpiry;
  /** What happened. */
  type:
    | 'room_created'
    | 'room_updated'
    | 'room_ended'
    | 'participant_entered'
    | 'participant_updated'
    | 'participant_left'
    | 'moderation'
    | 'watchdog_warned'
    | 'watchdog_fired'
    | 'snapshot'
    | 'bookmark'
    | 'reset'
    | 'watchdog_rearmed'
    | 'credit_spent'
    | 'credit_restored'
    | 'top_up_succeeded'
    | 'top_up_failed'
    | 'payment_reversed'
    | 'tenant_status_changed'
    | 'key_created'
    | 'key_rotated'
    | 'key_revoked'
    | 'device_credential_created'
    | 'device_credential_rotated'
    | 'device_credential_revoked'
    | 'balance_low'
    | 'balance_recovered'
    | 'runway_low'
    | 'runway_recovered'
    | 'payment_disputed'
    | 'payment_dispute_closed'
    | 'card_expiring'
    | 'conflicting_duplicates'
    | 'key_retiring'
    | 'webhook_paused'
    | 'budget_alert'
    | 'statement_ready'
    | 'grant_expiring'
    | 'unknown';
}

/**
 * Everything up to here has been sent. Sent at least every 15 seconds: a stream that is silent for longer is
 * dead.
 */
export type Bookmark = object;

/** A snapshot follows: live rooms, present participants and waiting watchdogs, then a bookmark. */
export type Reset = object;

/** The balance reached zero, or rose above it. */
export interface CreditChange {
  /** Millionths of a US dollar: the balance after the change. */
  balanceMicros: bigint;
  /** Whether new sessions and tokens are admitted from now on. */
  admitted: boolean;
}

/** A payment that added credit, or a failed attempt at one. */
export interface TopUp {
  /** Whether this was an automatic charge of the saved card; otherwise it was a checkout. */
  automatic: boolean;
  /** Millionths of a US dollar. */
  amountMicros: bigint;
  /** The payment provider's id of the payment; empty if there was no payment. */
  paymentId: string;
  /** Why it failed, as in `last_top_up_error` of the REST interface; empty if it succeeded. */
  error: string;
}

/** A refund or a dispute that moved the balance. */
export interface PaymentReversal {
  /** The payment provider's id of the payment. */
  paymentId: string;
  /** `refund` or `dispute`. */
  kind: string;
  /** The payment provider's id of the refund or the dispute. */
  reference: string;
  /** Millionths of a US dollar: negative if credit was taken back, positive if it was restored. */
  amountMicros: bigint;
}

/** The tenant's status or its exemption from charging changed. */
export interface TenantStatusChange {
  /** The status before: `pending`, `active`, `suspended`, `archived` or `deleted`. */
  from: string;
  /** The status after. */
  to: string;
  /** Whether usage is recorded without being charged. */
  exempt: boolean;
  /** Whether new sessions and tokens are admitted from now on. */
  admitted: boolean;
}

/** An API key was created, rotated or revoked. */
export interface ApiKeyChange {
  /** The key; after a rotation, the new one. */
  key?: ApiKey;
  /** Only after a rotation: the id of the old key. */
  replacedId: string;
  /** Only after a rotation: when the old key stops working. */
  replacedRetireTime?: Date;
}

/** An API key, without its secret. */
export interface ApiKey {
  /** 16 hex characters. */
  id: string;
  /** 1 to 100 characters. */
  name: string;
  /** `backend` or `relay`. */
  kind: string;
  /** When it was created. */
  createTime?: Date;
  /** When it stops working; set only during the overlap of a rotation. */
  retireTime?: Date;
  /** When it was revoked; absent if it was not. */
  revokeTime?: Date;
}

/** A device credential was created, rotated or revoked. */
export interface DeviceCredentialChange {
  /** The credential; after a rotation, the new one. */
  credential?: DeviceCredential;
  /** Only after a rotation: the id of the old credential. */
  replacedId: string;
  /** Only after a rotation: when the old credential stops working. */
  replacedRetireTime?: Date;
}

/** The balance crossed a threshold of credit. */
export interface BalanceAlert {
  /** Millionths of a US dollar: the balance after the change. */
  balanceMicros: bigint;
  /** Millionths of a US dollar: the threshold. */
  belowMicros: bigint;
}

/** The time that the balance lasts crossed a threshold of hours. */
export interface RunwayAlert {
  /** Millionths of a US dollar: the balance. */
  balanceMicros: bigint;
  /** The threshold, in whole hours. */
  belowSeconds?: number;
  /** Millionths of a US dollar: what usage takes in an hour. */
  burnPerHourMicros: bigint;
  /**
   * How long the balance lasts, 10,000 years at most: zero if nothing is left, absent if nothing is used.
   */
  runwaySeconds?: number;
  /** When the balance is spent; absent if nothing is left, if nothing is used, and after the year 9999. */
  emptyTime?: Date;
}

/** A dispute of a payment, an inquiry about it, or a warning that it is fraud. */
export interface PaymentDispute {
  /** The payment provider's id of the payment. */
  paymentId: string;
  /** `dispute`, `inquiry` (the bank only asks, and takes nothing) or `fraud_warning`. */
  kind: string;
  /** The payment provider's id of the dispute or the warning. */
  reference: string;
  /** Millionths of a US dollar: what is disputed, with tax; for a fraud warning, the whole payment. */
  amountMicros: bigint;
  /** In the payment provider's words, such as `fraudulent`; empty if it is not known. */
  reason: string;
}

/** The end of a dispute, an inquiry or a warning. */
export interface PaymentDisputeEnd {
  /** The payment provider's id of the payment. */
  paymentId: string;
  /** The payment provider's id of the dispute or the warning. */
  reference: string;
  /**
   * `won`, `lost` or `closed` (neither side lost an inquiry or a warning). One that is lost may be won
   * later, on appeal.
   */
  outcome: string;
}

/** The saved card, which automatic top-ups charge, expires soon. */
export interface CardExpiry {
  /** In the payment provider's words, such as `visa`. */
  brand: string;
  /** The last four digits of its number. */
  last4: string;
  /** The last month in which it pays, such as `2026-12`. */
  expires: string;
}

/** Reports of known usage records with other values, since the last such event. */
export interface ConflictingDuplicates {
  /** How many; a record that was reported twice counts twice. */
  count: bigint;
  /** The first of their ids, at most ten, each once. */
  ids: string[];
  /** When the first of them came. */
  firstTime?: Date;
}

/** A key that a rotation replaced, and that is still in use, stops working soon. */
export interface KeyRetirement {
  /** The id of the old API key or device credential. */
  keyId: string;
  /** Its name. */
  name: string;
  /** `backend`, `relay` or `device`. */
  kind: string;
  /** When it stops working. */
  retireTime?: Date;
}

/** A webhook was paused, because its deliveries failed. */
export interface WebhookPause {
  /** The id of the webhook. */
  webhookId: string;
  /** The host of its address, with the port if it has one. */
  host: string;
  /** What the tenant calls it; empty if it has no description. */
  description: string;
  /** `failing`: it failed too often; `gone`: it answered 410. */
  reason: string;
  /** The number of the event that could not be delivered; it is sent first when the webhook is resumed. */
  seq: bigint;
  /** How often that was tried. */
  attempts: number;
  /** The HTTP status of the last answer; 0 if there was none. */
  status: number;
  /** Why there was no answer; empty if there was one. */
  error: string;
}

/** A share of a budget is spent. */
export interface BudgetAlert {
  /** The id of the budget. */
  budget: string;
  /** The share that is spent, in percent. */
  percent: number;
  /** Millionths of a US dollar: what was charged in this period. */
  spentMicros: bigint;
  /** Millionths of a US dollar: the budget. */
  limitMicros: bigint;
  /** When the period began. */
  periodStartTime?: Date;
}

/** The statement of a month is ready: the balance moved in it. */
export interface ReadyStatement {
  /** Such as `2026-10`, in UTC. */
  month: string;
  /** Millionths of a US dollar: the balance at the start of the month. */
  openingMicros: bigint;
  /** Millionths of a US dollar: the balance at its end. */
  closingMicros: bigint;
}

/** Granted credit ends soon, and not all of it is spent. */
export interface GrantExpiry {
  /** The id of the grant. */
  grantId: string;
  /** Why it was granted. */
  reason: string;
  /** What was granted, in micros: millionths of a US dollar. */
  amountMicros: bigint;
  /** What is left of it. It leaves the balance at the end. */
  leftMicros: bigint;
  /** When it ends. */
  expireTime?: Date;
}

/** The token. */
export interface MintedToken {
  /** For the device and its relay. Treat it as opaque. */
  token: string;
  /** When it expires. Renew it before then. */
  expireTime?: Date;
  /** The room. */
  room: string;
  /** The user, after normalisation. */
  username: string;
  /** The key that signed it. */
  keyId: string;
  /** The device. */
  deviceThumbprint: string;
  /** The incarnation of the room. */
  roomUid: string;
  /** Capabilities that the token lacks because a moderator revoked them. */
  withheldCapabilities: string[];
}

/** A timer on a condition of a room. It acts once the condition has held for long enough. */
export interface WatchdogInput {
  /** `wd_<32 hex>`, chosen by the service. In an update, the watchdog to change. */
  readonly id?: string | undefined;
  /** Name of the room. */
  readonly room?: string | undefined;
  /** Time since the room was created. */
  readonly maxDurationSeconds?: number | undefined;
  /** Time since the room was created, while no participant has ever entered. */
  readonly unusedForSeconds?: number | undefined;
  /** Time since the last participant left. */
  readonly emptyForSeconds?: number | undefined;
  /**
   * Time since a host was last present: since the host's newest usage record if relays report any, else
   * since the host's tokens expired. If no host ever entered, time since the room was created.
   */
  readonly hostAbsentForSeconds?: number | undefined;
  /** Time since all but one user have left. */
  readonly aloneForSeconds?: number | undefined;
  /** Time since a participant entered; fires once for each. Not with ACTION_END_ROOM. */
  readonly participantMaxDurationSeconds?: number | undefined;
  /** Time since the tenant ran out of credit or stopped being active. */
  readonly unadmittedForSeconds?: number | undefined;
  /**
   * What it does. Every condition allows every action, with two exceptions: `unusedForSeconds` and
   * `emptyForSeconds` do not allow KICK and REVOKE_PUBLISH; `participantMaxDurationSeconds` does not allow
   * END_ROOM.
   */
  readonly action?: 'end_room' | 'kick' | 'revoke_publish' | 'notify' | undefined;
  /**
   * How long before firing an event warns of it; absent or 0: no warning. Shorter than the condition. If the
   * warning comes late, the watchdog fires that long after it.
   */
  readonly warnBeforeSeconds?: number | undefined;
  /** Where it stands. Output only. */
  readonly state?: 'armed' | 'warned' | 'fired' | 'disarmed' | undefined;
  /**
   * When it will fire if nothing changes; absent while the condition does not hold. A late warning moves it.
   * Output only.
   */
  readonly deadline?: Date | undefined;
  /** When it last fired. Output only. */
  readonly fireTime?: Date | undefined;
  /** Uid of the room. Output only. */
  readonly roomUid?: string | undefined;
  /** When it was created. Output only. */
  readonly createTime?: Date | undefined;
}

/**
 * The participant on whose behalf a call is made. The actor must be a participant of the room in the call. A
 * call without an actor is the tenant's own: it has every capability and rank 100. A call with an actor has
 * the capabilities and the rank of the newest token for the actor's device. It fails with PERMISSION_DENIED
 * if the capability is missing (CAPABILITY_REQUIRED), or if the target's rank is not lower than the actor's
 * (INSUFFICIENT_STANDING).
 */
export interface ActorInput {
  /** The participant, as in Participant.username. */
  readonly username?: string | undefined;
  /** The device that the participant's token is bound to: 43 characters of base64url (RFC 7638). */
  readonly deviceThumbprint?: string | undefined;
}

/** The room to create. */
export interface CreateRoomRequest {
  /** Its name: `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`. */
  readonly room: string;
  /** Its rules; absent: a meeting without limits. */
  readonly policy?: RoomPolicyInput | undefined;
  /** Your own text, at most 4096 characters. It cannot be changed later. */
  readonly metadata?: string | undefined;
}

/** The rules of a room. `mode` to `region` are fixed when it is created. */
export interface RoomPolicyInput {
  /** Immutable. */
  readonly mode?: 'meeting' | 'broadcast' | undefined;
  /**
   * Clients must not publish without a key for end-to-end encryption, and relays refuse plain media as far
   * as they can tell. Immutable.
   */
  readonly e2eeRequired?: boolean | undefined;
  /** Mints need `ageVerified`, and joins with device credentials are refused. Immutable. */
  readonly ageVerificationRequired?: boolean | undefined;
  /**
   * Where relays should serve the room: at most 64 characters of `[a-z0-9-]`. Immutable. The service does
   * not interpret it.
   */
  readonly region?: string | undefined;
  /** How many users may be present, 0 to 100000; 0 is no limit. Beyond it, new users get ROOM_FULL. */
  readonly maxParticipants?: number | undefined;
  /** New users are refused (ROOM_LOCKED); users who are present may renew. */
  readonly locked?: boolean | undefined;
  /** What a host gets when a token is minted without capabilities; empty: all capabilities of a host. */
  readonly hostCapabilities?: readonly string[] | undefined;
  /**
   * The same for the roles `audience` and `broadcast_audience`. Joins with device credentials get none that
   * is not among them.
   */
  readonly audienceCapabilities?: readonly string[] | undefined;
  /**
   * Clients start with the microphone off, and relays forward no sound of a new publisher. Users may turn it
   * on.
   */
  readonly muteOnEntry?: boolean | undefined;
}

/** The room to read. */
export interface GetRoomRequest {
  /** Its name. Of several rooms with the name, it means the live one, or else the one that ended last. */
  readonly room?: string | undefined;
  /** Its uid, to select any of them. The name is then optional. */
  readonly roomUid?: string | undefined;
}

/** Which rooms to list. */
export interface ListRoomsRequest {
  /** Only rooms in this state; STATE_UNSPECIFIED: in any. */
  readonly state?: 'live' | 'ended' | undefined;
  /** Only rooms whose names begin with this. */
  readonly namePrefix?: string | undefined;
  /** Only rooms created at this time or later. */
  readonly createTimeFrom?: Date | undefined;
  /** Only rooms created before this time. */
  readonly createTimeBefore?: Date | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

/** The rules to change. */
export interface UpdateRoomPolicyRequest {
  /** Name of a live room. */
  readonly room: string;
  /** The new values of the fields of `updateMask`. */
  readonly policy: RoomPolicyInput;
  /**
   * The acting participant: one with `room.update_policy`, and with every capability that the new rules add
   * to a role; absent: the tenant.
   */
  readonly actor?: ActorInput | undefined;
}

/** The room to end. */
export interface EndRoomRequest {
  /** Name of a live room. */
  readonly room: string;
  /** The acting participant: one with `room.end`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** What to follow, and where to begin. */
export interface WatchEventsRequest {
  /**
   * `resumeToken` of the last response that you processed; empty: begin with a snapshot. A token from a
   * stream of another `room` is INVALID_ARGUMENT.
   */
  readonly resumeToken?: string | undefined;
  /**
   * Only events of rooms with this name, without those of the whole tenant; empty: all events. NOT_FOUND if
   * no room ever had the name.
   */
  readonly room?: string | undefined;
}

/** Where to begin, and how long to wait. */
export interface ListEventsRequest {
  /**
   * `resumeToken` of the previous page; empty: begin with the oldest event that is kept. Events are kept for
   * 7 days, or longer if the deployment says so. If the next event is no longer kept, the page begins with
   * TYPE_RESET, followed by the oldest event that is. A token from a list of another `room` is
   * INVALID_ARGUMENT.
   */
  readonly resumeToken?: string | undefined;
  /**
   * Only events of rooms with this name, without those of the whole tenant; empty: all events. NOT_FOUND if
   * no room ever had the name.
   */
  readonly room?: string | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** How long to wait for the next event if there is none yet, up to 30 s; absent: do not wait. */
  readonly waitSeconds?: number | undefined;
}

/** The participant to read. */
export interface GetParticipantRequest {
  /** Name of the room. Of several with the name, it means the live one, or else the one that ended last. */
  readonly room?: string | undefined;
  /** Uid of the room, to select any of them. The name is then optional. */
  readonly roomUid?: string | undefined;
  /** The user. */
  readonly username: string;
  /** The acting participant: one with `roster.view`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** Which participants to list. */
export interface ListParticipantsRequest {
  /** Name of the room. Of several with the name, it means the live one, or else the one that ended last. */
  readonly room?: string | undefined;
  /** Uid of the room, to select any of them. The name is then optional. */
  readonly roomUid?: string | undefined;
  /**
   * Also list participants who have left. They are kept for 7 days; those who are muted or may not publish
   * are kept until 7 days after their room ended.
   */
  readonly includeLeft?: boolean | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page of this room; empty: the first page. */
  readonly pageToken?: string | undefined;
  /** The acting participant: one with `roster.view`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** Which room to follow, and from where. */
export interface WatchParticipantsRequest {
  /** Name of a room. Later rooms with this name are followed, too. */
  readonly room: string;
  /**
   * `resumeToken` of the last response that you processed; empty: begin with a snapshot. A token from a
   * stream of another `room` or another actor is INVALID_ARGUMENT.
   */
  readonly resumeToken?: string | undefined;
  /** The acting participant: one with `roster.view`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The user to kick. */
export interface KickParticipantRequest {
  /** Name of a live room. */
  readonly room: string;
  /** A participant of the room, present or left. */
  readonly username: string;
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.kick`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The ban to set. */
export interface BanSubjectRequest {
  /** Name of a live room; empty: every room of the tenant, which excludes an actor. */
  readonly room?: string | undefined;
  /** A user, by name. */
  readonly username?: string | undefined;
  /** A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638). */
  readonly deviceThumbprint?: string | undefined;
  /** A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6. */
  readonly cidr?: string | undefined;
  /** How long it lasts, also when the room ends and is made again; absent or 0: until it is lifted. */
  readonly ttlSeconds?: number | undefined;
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.ban`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The ban to lift. */
export interface UnbanSubjectRequest {
  /** Name of a room, which may have ended; empty: the ban of the whole tenant. */
  readonly room?: string | undefined;
  /** A user, by name. */
  readonly username?: string | undefined;
  /** A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638). */
  readonly deviceThumbprint?: string | undefined;
  /** A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6. */
  readonly cidr?: string | undefined;
  /**
   * The acting participant: one with `moderate.ban` and at least the rank of the ban; absent: the tenant.
   */
  readonly actor?: ActorInput | undefined;
}

/** Which bans to list. */
export interface ListBansRequest {
  /** Name of a room, to list its own bans; empty: all bans of the tenant and its rooms. */
  readonly room?: string | undefined;
  /** A user, by name. */
  readonly username?: string | undefined;
  /** A device, by the thumbprint of its key: 43 characters of base64url (RFC 7638). */
  readonly deviceThumbprint?: string | undefined;
  /** A range of addresses without host bits: /8 or narrower of IPv4, /16 or narrower of IPv6. */
  readonly cidr?: string | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

/** The tracks to mute. */
export interface ForceMuteRequest {
  /** Name of a live room. */
  readonly room: string;
  /** A participant of the room, present or left. */
  readonly username: string;
  /** At least one. */
  readonly tracks: readonly ('audio' | 'video' | 'screen' | 'data')[];
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.mute`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The tracks that the user may unmute. */
export interface ReleaseMuteRequest {
  /** Name of a live room. */
  readonly room: string;
  /** A participant of the room, present or left. */
  readonly username: string;
  /** At least one. */
  readonly tracks: readonly ('audio' | 'video' | 'screen' | 'data')[];
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.mute`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The tracks that the user may no longer publish. */
export interface RevokePublishRequest {
  /** Name of a live room. */
  readonly room: string;
  /** A participant of the room, present or left. */
  readonly username: string;
  /** At least one. */
  readonly tracks: readonly ('audio' | 'video' | 'screen' | 'data')[];
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.revoke_publish`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The tracks that the user may publish again. */
export interface RestorePublishRequest {
  /** Name of a live room. */
  readonly room: string;
  /** A participant of the room, present or left. */
  readonly username: string;
  /** At least one. */
  readonly tracks: readonly ('audio' | 'video' | 'screen' | 'data')[];
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.revoke_publish`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The room to close. */
export interface CloseRoomRequest {
  /** Name of a live room. */
  readonly room: string;
  /** At most 500 characters; stored with the record. */
  readonly reason?: string | undefined;
  /** The acting participant: one with `moderate.close_room`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** Which records to list. */
export interface ListModerationEventsRequest {
  /** Only actions in rooms of this name; empty: in any. NOT_FOUND if no room ever had the name. */
  readonly room?: string | undefined;
  /** Only actions against this user; empty: against anyone. */
  readonly username?: string | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

/** What the token should grant. */
export interface MintClientTokenRequest {
  /** Name of a live room. */
  readonly room: string;
  /** The user; 1 to 64 characters after normalisation (RFC 8265, UsernameCaseMapped). */
  readonly username: string;
  /**
   * Thumbprint of the device's key (RFC 7638): 43 characters of base64url. The token works only with that
   * key.
   */
  readonly deviceThumbprint: string;
  /** `host`, `audience` or `broadcast_audience`; empty: `audience`. */
  readonly role?: string | undefined;
  /** Exactly what the participant may do; empty: what the room's policy gives to the role. */
  readonly capabilities?: readonly string[] | undefined;
  /** 0 to 99; absent: 80 for `host`, 20 for `audience`, 10 for `broadcast_audience`. */
  readonly rank?: number | undefined;
  /**
   * More than 0 and at most 15 minutes, in whole seconds; absent: 10 minutes, or the key's ceiling if that
   * is lower.
   */
  readonly lifetimeSeconds?: number | undefined;
  /** Whether you have verified the user's age. Rooms may require it. */
  readonly ageVerified?: boolean | undefined;
  /** The device's address, to check against banned ranges; if empty, only relays check it. */
  readonly clientAddress?: string | undefined;
  /**
   * Your own name for the customer that the user belongs to, for budgets: one line of 1 to 128 characters,
   * without marks of direction; empty: none. Choose one that names no person.
   */
  readonly customer?: string | undefined;
}

/** The device credential to create. */
export interface CreateDeviceCredentialRequest {
  /** 1 to 100 characters. */
  readonly name: string;
  /** What devices may publish with it. */
  readonly publish: readonly ('audio' | 'video' | 'screen' | 'data')[];
  /** Names and patterns of rooms, at most 20; empty: every room. */
  readonly rooms?: readonly string[] | undefined;
  /** The room for joins that name none; empty: `lobby`. */
  readonly defaultRoom?: string | undefined;
  /** When it expires; absent: never. */
  readonly expireTime?: Date | undefined;
}

/** Which device credentials to list. */
export interface ListDeviceCredentialsRequest {
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
}

/** The device credential to replace. */
export interface RotateDeviceCredentialRequest {
  /** The credential's id. */
  readonly id: string;
  /** How long the old one keeps working: whole seconds, 0 to 7 days; absent: a day. */
  readonly overlapSeconds?: number | undefined;
}

/** The device credential to revoke. */
export interface RevokeDeviceCredentialRequest {
  /** The credential's id. */
  readonly id: string;
}

/** The watchdog to read. */
export interface GetWatchdogRequest {
  /** Its id. */
  readonly id: string;
  /** The acting participant: one with `watchdog.manage`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** Which watchdogs to list. */
export interface ListWatchdogsRequest {
  /** Only those of the live room of this name; empty: all of the tenant, which excludes an actor. */
  readonly room?: string | undefined;
  /** 1 to 500; 0 is 50. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the previous page; empty: the first page. */
  readonly pageToken?: string | undefined;
  /** The acting participant: one with `watchdog.manage`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}

/** The watchdog to delete. */
export interface DeleteWatchdogRequest {
  /** Its id. */
  readonly id: string;
  /** The acting participant: one with `watchdog.manage`; absent: the tenant. */
  readonly actor?: ActorInput | undefined;
}
