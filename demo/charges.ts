/** What was charged so far: the usage records of the tenant, read on from where the last reading began. */
import type { Boxoffice, ChargedRecord } from '../sdk/typescript/src/backend/index.ts';
import { TIERS, type Tier } from '../sdk/typescript/src/relay/usage/usage-record.ts';

export interface Charged {
  /** Bytes that the relay sent to the participant. */
  readonly egressBytes: number;
  readonly micros: bigint;
  /** The same for people: `$0.000009`. */
  readonly amount: string;
  /** The highest so far: a stay has records of several tiers, which come in any order. */
  readonly tier: Tier;
}

export class Charges {
  readonly #boxoffice: Boxoffice;
  readonly #charged = new Map<string, Charged>();
  #newest: string | undefined;
  #micros = 0n;

  constructor(boxoffice: Boxoffice) {
    this.#boxoffice = boxoffice;
  }

  /** The sum: `$0.000123`. */
  get spent(): string {
    return dollars(this.#micros);
  }

  of(room: string, participant: string): Charged | undefined {
    return this.#charged.get(`${room} ${participant}`);
  }

  /** Records come newest first. */
  async read(): Promise<void> {
    const fresh: ChargedRecord[] = [];
    for await (const record of this.#boxoffice.usage.records()) {
      if (record.id === this.#newest) break;
      fresh.push(record);
    }
    this.#newest = fresh[0]?.id ?? this.#newest;
    for (const record of fresh.reverse()) this.#add(record);
  }

  #add({ room, participant, egressBytes, total, tier }: ChargedRecord): void {
    const name = `${room} ${participant}`;
    const before = this.#charged.get(name);
    const micros = (before?.micros ?? 0n) + total.micros;
    this.#charged.set(name, {
      egressBytes: (before?.egressBytes ?? 0) + Number(egressBytes),
      micros,
      amount: dollars(micros),
      tier: TIERS[Math.max(TIERS.indexOf(tier), TIERS.indexOf(before?.tier ?? 'audio'))]!,
    });
    this.#micros += total.micros;
  }
}

function dollars(micros: bigint): string {
  const digits = String(micros).padStart(7, '0');
  return `$${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
