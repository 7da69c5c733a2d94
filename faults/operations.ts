/**
 * The operations that a journal may hold, and what is written down of each request. Names and amounts are as on the wire; keys, credentials
 * and sessions are named by their ids, never by their secrets. `service`: the index of the service that was asked.
 *
 * `answer` of an entry is the body of the answer, as it came; comments say where it is something else.
 */

/** As `POST /v1/usage` takes it. */
export interface WireRecord {
  readonly id: string;
  readonly room?: string;
  readonly participant?: string;
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
}

/** A request of a tenant with one of its keys. */
interface ByKey {
  /** `t_...` */
  readonly tenant: string;
  /** The id of the key that authenticates. */
  readonly key: string;
  readonly service: number;
  /** The same in each repetition of a change whose outcome was unknown: it takes effect once. */
  readonly idempotency?: string;
}

interface InRoom extends ByKey {
  readonly room: string;
}

interface OnUser extends InRoom {
  readonly username: string;
}

/** A token for a user is asked for. `answer`: `claims` of the token, and as `signed` whether a key that is published verifies it. */
interface Entering extends OnUser {
  /** The thumbprint of its key. */
  readonly device: string;
  readonly role: string;
}

interface OnDevice extends InRoom {
  readonly device: string;
}

interface Operations {
  /** `answer`: `tenant` and `key_id`. */
  signup: { readonly email: string; readonly service: number };
  'usage.report': ByKey & { readonly records: readonly WireRecord[] };
  'billing.read': ByKey;

  'checkout.create': ByKey & { readonly amount_cents: number };
  'auto_top_up.set': ByKey & {
    readonly enabled: boolean;
    readonly below_cents: number;
    readonly amount_cents: number;
  };
  /** An operator's; the service is -1 and the key empty. */
  'auto_top_up.unfreeze': ByKey;

  /** `answer`: `key` (the resource). The first key of a tenant is that of its signup. */
  'key.create': ByKey & { readonly kind: 'backend' | 'relay' };
  /** `id`: the old key. `answer`: `key`, `old_key_retires`. */
  'key.rotate': ByKey & { readonly id: string; readonly overlap_seconds: number };
  'key.revoke': ByKey & { readonly id: string };
  /** Any call whose only purpose is to learn whether a key works: `refused` with status 401 if not. */
  'key.use': ByKey;
  'key.list': ByKey;

  /** `answer`: `credential` is left out; `id` names it. */
  'credential.create': ByKey;
  'credential.revoke': ByKey & { readonly id: string };
  /** `key`: the id of the device credential, `publish`: what it may. `answer`: without `token`. */
  join: Entering & { readonly publish: readonly string[] };
  /** `answer`: the message. */
  mint: Entering & {
    /** The budget of its room, of which nothing is spent, and the micros that the token takes from it. */
    readonly budget?: string;
    readonly hold?: number;
  };
  /** By gRPC, as all that follows until the watchdog. `answer`: the JSON form of the message, without the token of a mint. */
  'room.create': InRoom;
  'room.get': InRoom;
  'room.end': InRoom;
  kick: OnUser;
  ban: OnUser;
  unban: OnUser;
  'ban.device': OnDevice;
  'unban.device': OnDevice;
  'participants.list': InRoom;
  'watchdog.set': InRoom & { readonly seconds: number; readonly action: 'end_room' | 'notify' };

  /** A relay that asks what was revoked. `answer`: `seq`, `closed`, `epochs` and `credentials` of the snapshot. */
  'revocations.read': { readonly tenant: string; readonly service: number };
  /** A relay that is told, from its request to the end of the stream. `stream`: how many it had before. */
  'revocations.follow': {
    readonly tenant: string;
    readonly service: number;
    readonly stream: number;
  };
  /**
   * A snapshot that came by such a stream. `answer`: `seq`; as `told` each hash that is new in this stream, with its epoch, or 0 if it
   * has none; as `gone` those that are no longer there.
   */
  'revocations.told': Operations['revocations.follow'];

  /** `answer`: `id` of the session, which is a name that the campaign gives it. */
  'session.log_in': ByKey & { readonly session: string };
  /** `refused` with the status of a redirect, if it does not work. */
  'session.use': { readonly tenant: string; readonly session: string; readonly service: number };
  'session.log_out': { readonly tenant: string; readonly session: string; readonly service: number };

  /** It gets all events. `path` of the receiver. `answer`: `webhook` (the resource). */
  'webhook.create': ByKey & { readonly path: string; readonly order: 'tenant' | 'room' | 'none' };
  /** `answer`: `events` of one page from `after` on, as receivers note them. */
  'events.list': ByKey & { readonly after: number };

  'alert.set': ByKey & { readonly below_micros: number };
  'erasure.request': ByKey & { readonly username: string };
  'statement.read': ByKey & { readonly month: string };
  /** Amounts in micros. */
  'budget.set': ByKey & {
    readonly id: string;
    readonly limit_micros: number;
    readonly hard: boolean;
    readonly room: string;
  };
  /** `answer`: the budget, with `spent`, `held` and `free`. */
  'budget.read': ByKey & { readonly id: string };
  /** An operator's; the service is -1 and the key empty. */
  'grant.create': ByKey & { readonly amount: string; readonly reason: string; readonly expires_at: string };
  /** An operator's, too. Amounts in micros. */
  'credit.adjusted': ByKey & { readonly amount: string; readonly reason: string };
  /** An operator's, too: from now on, the tenant is exempt or not. */
  'tenant.exempt': ByKey & { readonly exempt: boolean };

  /** What a tenant that never paid asks for in vain, or too often. */
  misuse: ByKey & { readonly what: string };
  /** By the key of a tenant, at what another one has. `what`: as in "it could ...". */
  trespass: ByKey & { readonly other: string; readonly what: string };

  /** What a buyer of a tenant saw: who paid what, whatever the service has told the provider of it. */
  'checkout.paid': { readonly tenant: string; readonly session: string; readonly payment: string };

  /** The provider's own book, at the end. Amounts in cents; `metadata` as the service gave it. */
  'provider.charged': Payment & {
    readonly customer: string | null;
    readonly metadata: Readonly<Record<string, string>>;
  };
  'provider.refunded': Payment & { readonly refund: string; readonly status: string };
  /** `moved`: what it has taken so far, as a negative number; what it gave back is added. */
  'provider.disputed': Payment & {
    readonly dispute: string;
    readonly status: string;
    readonly moved: number;
  };

  /** A request to a receiver, and what it answered; `null`: it cut the connection. `webhook`: the path of the receiver. */
  'webhook.received': {
    readonly webhook: string;
    /** The header `webhook-id`. */
    readonly id: string;
    readonly isList: boolean;
    /** The versions of its signatures that verify; absent: the receiver did not know its keys yet. */
    readonly verified?: readonly string[];
    /** By the clocks of the receiver and of the header `webhook-timestamp`. */
    readonly ageSeconds?: number;
    /** In the order of the request. `digest`: SHA-256 of the JSON of `schema_version`, `timestamp` and `data`. */
    readonly events: readonly {
      readonly id: string;
      readonly seq: number;
      readonly type: string;
      readonly digest: string;
    }[];
    readonly answered: number | null;
    /** When it arrived. It is written down when it is answered. */
    readonly arrivedUs: number;
    /** The number of the service that sent it, where the machine can tell. */
    readonly sender?: number;
    /** It had closed the connection before the answer. */
    readonly mayBeLost?: true;
    /** As in the event, of a webhook in the order of rooms. */
    readonly rooms?: readonly (string | null)[];
  };

  /** A client got a secret that no table and no log may hold. `digests`: SHA-256 of it, and of its secret part, in base64. */
  'secret.got': { readonly tenant: string; readonly what: string; readonly digests: readonly string[] };

  /** From `begun` (microseconds) until now. `detail`: what it was done to. */
  fault: {
    readonly name: string;
    readonly begunUs: number;
    readonly detail?: string;
    /** By so much a clock was wrong. */
    readonly shiftMs?: number;
  };
  /** The campaign looks for what has not come to its end, and ends waits. How long that takes tells of the machine, when no client asks any more. */
  'settle.look': Readonly<Record<string, never>>;
  'settle.hurry': Readonly<Record<string, never>>;
  /** All faults are healed, the load has ended, and events until `at` have reached who gets them. `at`: ISO 8601, by the clock of PostgreSQL. */
  settled: { readonly at: string };
}

interface Payment {
  readonly payment: string;
  readonly amount: number;
}

export type Operation = keyof Operations;
export type Args<O extends Operation> = Operations[O];
