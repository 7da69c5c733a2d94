/**
 * Sessions: the stays of participants, split into intervals that become records.
 *
 * Usage is kept separately by role and tier, so an interval in which these changed
 * becomes one record for each. Usage that could not be stored stays here, for the next interval.
 */
import type { Clock } from './clock.ts';
import { UsageError } from './errors.ts';
import type { Emit } from './events.ts';
import { checkCount, checkUsage, type ParticipantUsage, type Role, type Tier } from './usage-record.ts';

/** The participant of a session. */
export interface SessionStart {
  /** Becomes part of the ids. Default: a number from the reporter. */
  readonly sessionId?: string | undefined;
  /** If given, it must be the key's tenant. */
  readonly tenant?: string | undefined;
  /** Name of the room, which the ledger shows. */
  readonly room?: string | undefined;
  /** Name of the participant, which the ledger shows. */
  readonly participant?: string | undefined;
  /** It decides the ceiling of the price. */
  readonly role: Role;
  /** It decides the ceiling of the price: see `tierOf`. */
  readonly tier: Tier;
}

/** The stay of one participant; the reporter counts its seconds. */
export interface UsageSession {
  /** Its part of the ids of records. */
  readonly id: string;
  /** Count bytes since the last call. Throws `closed` once the session or the reporter has ended. */
  add(bytes: {
    /** Bytes sent to the participant. */
    readonly egressBytes?: number;
    /** Bytes received from the participant. */
    readonly ingressBytes?: number;
  }): void;
  /** From now on the participant has this role and tier. */
  change(to: {
    /** Left out: as before. */
    readonly role?: Role;
    /** Left out: as before. */
    readonly tier?: Tier;
  }): void;
  /** The participant left. Resolves once the last interval is on disk; after a failure, call it again. */
  end(): Promise<void>;
}

/** The usage of one session in one role and tier that is no record yet. */
interface Tally {
  readonly role: Role;
  readonly tier: Tier;
  /** Of the record that it becomes, once it is known. */
  id: string | undefined;
  ms: number;
  egressBytes: number;
  ingressBytes: number;
}

/** A record that is not stored yet. */
export interface Unrecorded {
  readonly id: string;
  readonly usage: ParticipantUsage;
}

export interface SessionsOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly newId: (sessionId: string) => string;
  readonly record: (record: Unrecorded) => Promise<unknown>;
  /** Keep what `unrecorded` returns, in place of what was kept before. Never fails. */
  readonly checkpoint: () => Promise<void>;
}

/** How often the usage of running sessions is kept on disk: what a crash can lose. */
const CHECKPOINT_MS = 1_000;

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #running = new Set<Session>();
  #started = 0;
  #cancelCut: () => void = () => undefined;
  #cancelCheckpoint: (() => void) | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#cutLater();
  }

  /** What running sessions would record if they ended now. The ids stay the same until it is recorded. */
  unrecorded(): Unrecorded[] {
    return [...this.#running].flatMap((session) => session.unrecorded());
  }

  start(given: SessionStart): UsageSession {
    checkUsage({ ...given, seconds: 0, egressBytes: 0, ingressBytes: 0 });
    this.#started += 1;
    const id = given.sessionId ?? `s${this.#started}`;
    const session = new Session(id, given, this.#options, () => this.#running.delete(session));
    this.#running.add(session);
    this.#checkpointLater();
    return session;
  }

  /** End all sessions. Those that cannot be stored are reported as events. */
  async close(): Promise<void> {
    this.#cancelCut();
    this.#cancelCheckpoint?.();
    await Promise.all([...this.#running].map((session) => this.#cut(session, () => session.end())));
  }

  #cutLater(): void {
    this.#cancelCut = this.#options.clock.after(this.#options.intervalMs, () => {
      this.#cutLater();
      for (const session of this.#running) void this.#cut(session, () => session.cut());
    });
  }

  /** While sessions run, and once after the last one. */
  #checkpointLater(): void {
    this.#cancelCheckpoint ??= this.#options.clock.after(CHECKPOINT_MS, () => {
      this.#cancelCheckpoint = undefined;
      if (this.#running.size > 0) this.#checkpointLater();
      void this.#options.checkpoint();
    });
  }

  async #cut(session: Session, work: () => Promise<void>): Promise<void> {
    await work().catch((cause: unknown) => {
      this.#options.emit({ type: 'interval_not_stored', sessionId: session.id, cause });
    });
  }
}

class Session implements UsageSession {
  readonly id: string;
  readonly #start: SessionStart;
  readonly #options: SessionsOptions;
  readonly #onEnd: () => void;
  readonly #tallies = new Map<string, Tally>();
  readonly #storing = new Set<Promise<void>>();
  /** Records that are on their way to the disk. */
  readonly #unstored = new Set<Unrecorded>();
  #current: Tally;
  #countedUntil: number;
  #ended = false;

  constructor(id: string, start: SessionStart, options: SessionsOptions, onEnd: () => void) {
    this.id = id;
    this.#start = start;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#current = this.#tallyOf(start.role, start.tier);
    this.#countedUntil = options.clock.now();
  }

  add({ egressBytes = 0, ingressBytes = 0 }: { egressBytes?: number; ingressBytes?: number }): void {
    checkCount('egressBytes', egressBytes);
    checkCount('ingressBytes', ingressBytes);
    if (this.#ended) throw new UsageError('closed', 'the session has ended');
    this.#current.egressBytes += egressBytes;
    this.#current.ingressBytes += ingressBytes;
  }

  change(to: { role?: Role; tier?: Tier }): void {
    const { role = this.#current.role, tier = this.#current.tier } = to;
    checkUsage({ role, tier, seconds: 0, egressBytes: 0, ingressBytes: 0 });
    this.#countTime();
    this.#current = this.#tallyOf(role, tier);
  }

  async end(): Promise<void> {
    this.#countTime();
    this.#ended = true;
    await this.cut();
  }

  unrecorded(): Unrecorded[] {
    this.#countTime();
    const open = [...this.#tallies.values()].flatMap((tally) => {
      const usage = this.#usageOf(tally, Math.round(tally.ms / 1000));
      if (usage.seconds + usage.egressBytes + usage.ingressBytes === 0) return [];
      tally.id ??= this.#options.newId(this.id);
      return [{ id: tally.id, usage }];
    });
    return [...this.#unstored, ...open];
  }

  /** Record the usage so far. */
  async cut(): Promise<void> {
    this.#countTime();
    for (const tally of this.#tallies.values()) {
      const storing = this.#record(tally).finally(() => this.#storing.delete(storing));
      this.#storing.add(storing);
    }
    // Includes earlier intervals: if one fails, its usage comes back, and the session has not ended.
    const results = await Promise.allSettled(this.#storing);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    if (this.#ended) this.#onEnd();
  }

  /**
   * Whole seconds are reported. The remaining fraction waits for the next interval: otherwise its bytes
   * would be reported with zero seconds, and so with a price ceiling of zero.
   */
  async #record(tally: Tally): Promise<void> {
    const usage = this.#usageOf(
      tally,
      this.#ended ? Math.round(tally.ms / 1000) : Math.floor(tally.ms / 1000),
    );
    const { seconds, egressBytes, ingressBytes } = usage;
    const isLast = this.#ended && egressBytes + ingressBytes > 0;
    if (seconds === 0 && !isLast) return;

    const ms = Math.min(tally.ms, seconds * 1000);
    const record = { id: tally.id ?? this.#options.newId(this.id), usage };
    tally.id = undefined;
    tally.ms -= ms;
    tally.egressBytes = 0;
    tally.ingressBytes = 0;
    this.#unstored.add(record);
    try {
      await this.#options.record(record);
    } catch (error) {
      // The last checkpoint may have it: under another id it would be charged twice after a crash.
      tally.id = record.id;
      tally.ms += ms;
      tally.egressBytes += egressBytes;
      tally.ingressBytes += ingressBytes;
      throw error;
    } finally {
      this.#unstored.delete(record);
    }
  }

  #usageOf({ role, tier, egressBytes, ingressBytes }: Tally, seconds: number): ParticipantUsage {
    const { tenant, room, participant } = this.#start;
    return { sessionId: this.id, tenant, room, participant, role, tier, seconds, egressBytes, ingressBytes };
  }

  #countTime(): void {
    const now = this.#options.clock.now();
    if (!this.#ended) this.#current.ms += Math.max(0, now - this.#countedUntil);
    this.#countedUntil = now;
  }

  #tallyOf(role: Role, tier: Tier): Tally {
    const key = `${role} ${tier}`;
    const tally = this.#tallies.get(key) ?? {
      role,
      tier,
      id: undefined,
      ms: 0,
      egressBytes: 0,
      ingressBytes: 0,
    };
    this.#tallies.set(key, tally);
    return tally;
  }
}
