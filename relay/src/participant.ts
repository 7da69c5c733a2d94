/** What one participant uses, over all of its connections: one stay, reported in intervals. */
import {
  type Admission,
  type Role,
  tierOf,
  type UsageReporter,
  type UsageSession,
} from '../../sdk/typescript/src/relay/index.ts';
import { Allowance } from './allowance.ts';
import type { Metrics } from './metrics.ts';

export class Participant {
  /** What it may send. */
  readonly allowance: Allowance;
  readonly #usage: UsageSession;
  readonly #metrics: Metrics;
  /** The pictures that are forwarded to it, by connection and kind. */
  readonly #pictures = new Map<object, number>();
  readonly #sessions = new Set<object>();

  /** `bitrate`: bits a second that it may send. */
  constructor(
    reporter: UsageReporter,
    { room, username, role }: Admission,
    bitrate: number,
    metrics: Metrics,
  ) {
    this.allowance = new Allowance(bitrate);
    this.#metrics = metrics;
    this.#usage = reporter.startSession({ room, participant: username, role, tier: 'audio' });
  }

  enter(session: object): void {
    this.#sessions.add(session);
  }

  /** The role of its newest token, which decides the price. */
  act(role: Role): void {
    this.#usage.change({ role });
  }

  /** Returns whether it was the last one: then the stay has ended. */
  leave(session: object): boolean {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return false;
    // What cannot be stored now, as on a full disk, is stored with the next interval.
    this.#usage.end().catch(() => undefined);
    return true;
  }

  sent(bytes: number): void {
    this.#usage.add({ egressBytes: bytes });
    this.#metrics.carried('out', bytes);
  }

  received(bytes: number): void {
    this.#usage.add({ ingressBytes: bytes });
    this.#metrics.carried('in', bytes);
  }

  /** The tier follows the sum of all pictures. */
  show(stream: object, pixels: number): void {
    if (pixels === 0) this.#pictures.delete(stream);
    else this.#pictures.set(stream, pixels);
    const sum = [...this.#pictures.values()].reduce((total, each) => total + each, 0);
    this.#usage.change({ tier: tierOf(sum) });
  }
}
