/** What the relay counts, for Prometheus. */
import { Counter, Gauge, Registry } from 'prom-client';

/** How many there are now. */
export interface Counts {
  readonly sessions: number;
  readonly rooms: number;
  readonly participants: number;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #bytes = this.#counter('relay_rtp_bytes_total', 'Bytes of RTP', ['direction']);
  readonly #refused = this.#counter('relay_refusals_total', 'Refused requests, by code', ['code']);
  readonly #ended = this.#counter('relay_sessions_ended_total', 'Sessions that ended, by code', ['code']);

  constructor(counts: () => Counts) {
    for (const what of ['sessions', 'rooms', 'participants'] as const) {
      new Gauge({
        name: `relay_${what}`,
        help: `The ${what} that there are now`,
        registers: [this.#registry],
        collect() {
          this.set(counts()[what]);
        },
      });
    }
  }

  carried(direction: 'in' | 'out', bytes: number): void {
    this.#bytes.inc({ direction }, bytes);
  }

  /** `code`: one of docs/tokens.md or docs/relays.md, so that there are few. */
  refused(code: string): void {
    this.#refused.inc({ code });
  }

  ended(code: string): void {
    this.#ended.inc({ code });
  }

  render(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }
}
