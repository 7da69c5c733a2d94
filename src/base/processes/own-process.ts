/**
 * This process among those that share the database: leases name it, and the others learn within seconds that it is gone.
 *
 * A process notes twice a second that it lives. One that said nothing for `GONE_MS` is noted as gone by another one, and
 * then never comes back under its id: if it was only stopped, it goes on as a new process, without its leases. It knows
 * that by its own clock, before it has asked the database.
 */
import type { Db } from '../db/pool.ts';
import { newId } from '../lib/ids.ts';
import { findGone, insertProcess, noteAlive, noteEnd, noteGone } from './processes.sql.ts';

export const BEAT_SECONDS = 0.5;
const GONE_MS = 4_000;
/** Before the others may note that it is gone, a process has stopped to act. */
const MARGIN_MS = 500;
/**
 * After an outage of the database, all processes look gone. Only one that has asked it so recently may judge, and by
 * then the others have asked it too.
 */
const STEADY_MS = 2_000;
/** Longer than any lease. */
const TOLD_SECONDS = 120;

/** What holders of leases need to know. */
export interface LeaseHolder {
  readonly id: string;
  /** Processes whose leases are free. */
  readonly gone: readonly string[];
  /** Whether its leases hold. Asks the clock only, so ask before each step. */
  isAlive(): boolean;
}

export class OwnProcess implements LeaseHolder {
  readonly #db: Db;
  readonly #secretsKey: string | undefined;
  #id = newId('pr');
  #isNoted = false;
  /** When the last note that succeeded was begun. */
  #notedAt = Number.NEGATIVE_INFINITY;
  #gone: readonly string[] = [];
  #onLost: () => void = () => {};

  /** `secretsKey`: the name of the key that it seals with. */
  constructor(db: Db, secretsKey?: string) {
    this.#db = db;
    this.#secretsKey = secretsKey;
  }

  /** Call `work` when this process turns out to be gone for the others, before it goes on under another id. */
  onLost(work: () => void): void {
    this.#onLost = work;
  }

  get id(): string {
    return this.#id;
  }

  get gone(): readonly string[] {
    return this.#gone;
  }

  isAlive(): boolean {
    return performance.now() < this.#notedAt + GONE_MS - MARGIN_MS;
  }

  /** Note that it lives, and learn who does not. Returns whether others went since the last time. */
  async beat(): Promise<boolean> {
    const now = performance.now();
    const isSteady = now < this.#notedAt + STEADY_MS;
    await this.#note();
    this.#notedAt = now;
    if (isSteady) await noteGone(this.#db, GONE_MS / 1000);
    const gone = await findGone(this.#db, TOLD_SECONDS);
    const haveOthersGone = gone.some((id) => !this.#gone.includes(id));
    this.#gone = gone;
    return haveOthersGone;
  }

  async #note(): Promise<void> {
    if (this.#isNoted) {
      if (await noteAlive(this.#db, this.#id)) return;
      this.#isNoted = false;
      this.#id = newId('pr');
      this.#onLost();
    }
    await insertProcess(this.#db, this.#id, this.#secretsKey);
    this.#isNoted = true;
  }

  /** It takes no more leases, and those that it has are free. */
  async end(): Promise<void> {
    this.#notedAt = Number.NEGATIVE_INFINITY;
    await noteEnd(this.#db, this.#id);
  }
}
