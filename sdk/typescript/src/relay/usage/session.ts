/**
 * Sessions: the stays of participants, split into intervals that become records.
 *
 * Usage is kept separately by role and tier, so an interval in which these changed
 * becomes one record for each. Usage that could not be stored stays here, for the next interval.
 */
import type { Clock } from './clock.ts';
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
  /** Count bytes since the last call. */
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

/** The usage of one session in one role and tier that is not on disk yet. */
interface Tally {
  readonly role: Role;
  readonly tier: Tier;
  ms: number;
  egressBytes: number;
  ingressBytes: number;
}

export interface SessionsOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly record: (usage: ParticipantUsage) => Promise<unknown>;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #running = new Set<Session>();
  #started = 0;
  #cancel: () => void = () => undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#cutLater();
  }

  start(given: SessionStart): UsageSession {
    checkUsage({ ...given, seconds: 0, egressBytes: 0, ingressBytes: 0 });
    this.#started += 1;
    const id = given.sessionId ?? `s${this.#started}`;
    const session = new Session(id, given, this.#options, () => this.#running.delete(session));
    this.#running.add(session);
    return session;
  }

  /** End all sessions. Those that cannot be stored are reported as events. */
  async close(): Promise<void> {
    this.#cancel();
    await Promise.all([...this.#running].map((session) => this.#cut(session, () => session.end())));
  }

  #cutLater(): void {
    this.#cancel = this.#options.clock.after(this.#options.intervalMs, () => {
      this.#cutLater();
      for (const session of this.#running) void this.#cut(session, () => session.cut());
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
    const seconds = this.#ended ? Math.round(tally.ms / 1000) : Math.floor(tally.ms / 1000);
    const { role, tier, egressBytes, ingressBytes } = tally;
    const last = this.#ended && egressBytes + ingressBytes > 0;
    if (seconds === 0 && !last) return;

    const ms = Math.min(tally.ms, seconds * 1000);
    tally.ms -= ms;
    tally.egressBytes = 0;
    tally.ingressBytes = 0;
    try {
      const { tenant, room, participant } = this.#start;
      const who = { sessionId: this.id, tenant, room, participant };
      await this.#options.record({ ...who, role, tier, seconds, egressBytes, ingressBytes });
    } catch (error) {
      tally.ms += ms;
      tally.egressBytes += egressBytes;
      tally.ingressBytes += ingressBytes;
      throw error;
    }
  }

  #countTime(): void {
    const now = this.#options.clock.now();
    if (!this.#ended) this.#current.ms += Math.max(0, now - this.#countedUntil);
    this.#countedUntil = now;
  }

  #tallyOf(role: Role, tier: Tier): Tally {
    const key = `${role} ${tier}`;
    const tally = this.#tallies.get(key) ?? { role, tier, ms: 0, egressBytes: 0, ingressBytes: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }
}
