/**
 * The journal of a campaign, as the checker reads it: a line of JSON for each operation.
 *
 * Operations and their arguments are those of `faults/operations.ts`. The checker has a reader of its own, so that a
 * mistake in the writer cannot hide in both.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** As `POST /v1/usage` takes it. */
export interface SentRecord {
  readonly id: string;
  readonly room?: string;
  readonly participant?: string;
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egress_bytes: number;
  readonly ingress_bytes: number;
}

interface Micros {
  readonly micros: number | string;
}

/** The arguments that rules look at. Which of them an entry has depends on `op`. */
export interface Args {
  readonly tenant?: string;
  /** The id of the key or device credential that authenticates. */
  readonly key?: string;
  readonly id?: string;
  readonly amount?: string | number;
  readonly reason?: string;
  readonly expires_at?: string;
  readonly exempt?: boolean;
  /** SHA-256 of what a secret looks like where it stands, in base64. */
  readonly digests?: readonly string[];
  readonly records?: readonly SentRecord[];
  readonly overlap_seconds?: number;
  readonly room?: string;
  readonly username?: string;
  /** The thumbprint of its key. */
  readonly device?: string;
  readonly role?: string;
  /** What the credential may publish. */
  readonly publish?: readonly string[];
  readonly seconds?: number;
  readonly action?: string;
  readonly session?: string;
  readonly webhook?: string;
  readonly other?: string;
  readonly what?: string;
  readonly events?: readonly DeliveredEvent[] | readonly string[] | null;
  readonly isList?: boolean;
  readonly verified?: readonly string[];
  readonly ageSeconds?: number;
  readonly answered?: number | null;
  /** When the request began to wait for its answer. */
  readonly arrivedUs?: number;
  /** The number of the service that was asked; an operator's command asks none. */
  readonly service?: number;
  /** The number of the service that sent it. */
  readonly sender?: number;
  /** The sender had closed the connection before the answer. */
  readonly mayBeLost?: boolean;
  readonly name?: string;
  readonly begunUs?: number;
  /** When all had settled. */
  readonly at?: string;
  /** By so much a fault made a clock wrong. */
  readonly shiftMs?: number;
  /** The lane of a fault, or what it was done to. */
  readonly detail?: string;
  /** The number of a stream of its client. */
  readonly stream?: number;
  readonly payment?: string;
  readonly customer?: string | null;
  readonly refund?: string;
  readonly dispute?: string;
  readonly status?: string;
  readonly tax?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The same in each repetition of a change. */
  readonly idempotency?: string;
  readonly limit_micros?: number;
  readonly hard?: boolean;
  readonly below_micros?: number;
  readonly enabled?: boolean;
  readonly below_cents?: number;
  readonly amount_cents?: number;
  /** Cents that a dispute took, as a negative number; what it gave back is added. */
  readonly moved?: number;
  /** The one that covers the token, and the micros that the token takes from it. */
  readonly budget?: string;
  readonly hold?: number;
}

export interface DeliveredEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  /** SHA-256 of what it tells. */
  readonly digest?: string;
}

/** What a participant token says. */
export interface Claims {
  readonly tid?: string;
  readonly room?: string;
  readonly rid?: string;
  readonly sub?: string;
  readonly key?: string;
  readonly ep?: number;
  readonly iat?: number;
  readonly exp?: number;
  readonly role?: string;
  readonly cap?: readonly string[];
  readonly cnf?: Readonly<Record<string, unknown>>;
}

/** The members of answers that rules look at. */
export interface Answer {
  readonly charged?: number;
  readonly duplicates?: number;
  readonly unbilled?: number;
  readonly total?: Micros;
  readonly balance?: Micros;
  readonly admitted?: boolean;
  readonly free?: Micros;
  readonly key?: { readonly id: string };
  readonly id?: string;
  /** The room that a call was about; a mint has its name. */
  readonly room?: { readonly uid?: string; readonly state?: string } | string;
  readonly watchdog?: { readonly id: string };
  readonly webhook?: { readonly id: string };
  readonly events?: readonly DeliveredEvent[];
  /** A statement. One of a month that is not over closes with the balance. */
  readonly statement?: { readonly closing: Micros; readonly so_far?: boolean };
  /** The page of a checkout. */
  readonly session?: string;
  /** The tenant that signed up, and its first key. */
  readonly tenant?: string;
  readonly key_id?: string;
  readonly claims?: Claims;
  /** Whether a key that is published verifies the token; absent: no list of keys could be read. */
  readonly signed?: boolean;
  /** A snapshot of revocations has hashes, those of users with their epochs. */
  readonly epochs?: readonly (readonly [string, number])[];
  readonly closed?: readonly string[];
  readonly credentials?: readonly string[];
  /** The newest number that a snapshot has. */
  readonly seq?: number;
  /** Hashes that a stream tells, and those that it does not tell any more. */
  readonly told?: readonly (readonly [string, number])[];
  readonly gone?: readonly string[];
  /** The text of a refusal. */
  readonly error?: string;
}

export interface Entry {
  readonly client: number;
  readonly op: string;
  readonly args: Args;
  /** Microseconds of one clock that never goes back. */
  readonly invokedUs: number;
  /** `null`: no answer came. */
  readonly returnedUs: number | null;
  readonly outcome: 'ok' | 'refused' | 'unknown';
  /** A status of HTTP, or a code of gRPC by number or name. */
  readonly status?: number | string;
  readonly answer?: Answer;
}

/** A batch of usage. Its records are in `Journal.sent`. */
export interface Report {
  readonly tenant: string;
  /** One for each record, in their order. The same id may be there twice. */
  readonly ids: readonly string[];
  readonly entry: Entry;
}

/** What was sent under an id, each payload once: an id should have one. */
export type Sent = ReadonlyMap<string, readonly string[]>;

/** Keeps each text once, however often it was read: a million records have few rooms, and their ids appear in all views. */
export class Texts {
  readonly #texts = new Map<string, string>();

  once(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }

  /** The object with such texts. */
  onceIn<T extends object>(item: T): T {
    const all = item as Record<string, unknown>;
    for (const name of Object.keys(all)) {
      const value = all[name];
      if (typeof value === 'string') all[name] = this.once(value);
    }
    return item;
  }
}

export interface Journal {
  readonly texts: Texts;
  /** All but reports of usage, in the order of the lines. */
  readonly entries: readonly Entry[];
  readonly reports: readonly Report[];
  /** By tenant. */
  readonly sent: ReadonlyMap<string, Sent>;
  readonly lines: number;
  /** In which no rule can see anything. */
  readonly unreadable: readonly number[];
}

/** What was measured, as one text. Two payloads are the same if the texts are. */
export function payloadOf(record: Omit<SentRecord, 'id'>): string {
  const { role, tier, seconds, egress_bytes, ingress_bytes, room, participant } = record;
  return JSON.stringify([
    role,
    tier,
    `${seconds}`,
    `${egress_bytes}`,
    `${ingress_bytes}`,
    room ?? null,
    participant ?? null,
  ]);
}

/** The path of a journal, or its entries. `tell` is told how many lines it has read. */
export async function readJournal(
  journal: string | Iterable<Entry>,
  tell = (_lines: number) => {},
): Promise<Journal> {
  const reading = new Reading();
  if (typeof journal === 'string') {
    for await (const line of createInterface({ input: createReadStream(journal) })) {
      reading.addLine(line);
      tell(reading.lines);
    }
  } else for (const entry of journal) reading.add(entry);
  return reading;
}

class Reading implements Journal {
  readonly entries: Entry[] = [];
  readonly reports: Report[] = [];
  readonly sent = new Map<string, Map<string, string[]>>();
  readonly unreadable: number[] = [];
  lines = 0;
  readonly texts = new Texts();

  addLine(line: string): void {
    try {
      this.add(JSON.parse(line) as Entry);
    } catch {
      this.lines += 1;
      this.unreadable.push(this.lines);
    }
  }

  add(entry: Entry): void {
    this.lines += 1;
    if (entry.op !== 'usage.report') this.entries.push(entry);
    else this.#addReport(entry);
  }

  #addReport({ args: { records = [], ...args }, ...entry }: Entry): void {
    const tenant = args.tenant!;
    const sent = this.sent.get(tenant) ?? new Map<string, string[]>();
    this.sent.set(tenant, sent);
    const ids = records.map((record) => {
      const id = this.texts.once(record.id);
      const payload = payloadOf(record);
      const known = sent.get(id);
      if (!known) sent.set(id, [payload]);
      else if (!known.includes(payload)) known.push(payload);
      return id;
    });
    this.reports.push({ tenant, ids, entry: { ...entry, args } });
  }
}

/** The end of an operation; without an answer it may take effect at any time. */
export function endOf({ returnedUs }: Entry): number {
  return returnedUs ?? Number.POSITIVE_INFINITY;
}

export function microsOf(amount: Micros | undefined): bigint | undefined {
  return amount === undefined ? undefined : BigInt(amount.micros);
}

/** The room that an answer shows. */
export function roomIn({ answer }: Entry): { readonly uid?: string; readonly state?: string } {
  return typeof answer?.room === 'object' ? answer.room : {};
}
