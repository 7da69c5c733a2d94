/** Relays that report usage without an end, as real ones do: a batch that was not acknowledged is sent again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../src/base/db/pool.ts';
import type { TenantId } from '../../src/base/tenants/tenant.ts';
import { post } from './post.ts';

/** A service, and a tenant that reports to it. */
export interface Reporter {
  readonly url: string;
  readonly tenant: TenantId;
  readonly relayKey: string;
}

interface Acknowledgement {
  readonly url: string;
  readonly sentAt: number;
  readonly at: number;
}

/** Of each batch. */
const RECORDS = 5;
const RECORD = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };
const PAUSE_MS = 100;
const RETRY_MS = 100;

export class Load {
  readonly #acknowledged = new Map<TenantId, string[]>();
  readonly #acknowledgements: Acknowledgement[] = [];
  readonly #stopping = new AbortController();
  readonly #urls: ReadonlySet<string>;
  readonly #relays: readonly Promise<void>[];

  constructor(reporters: readonly Reporter[]) {
    this.#urls = new Set(reporters.map(({ url }) => url));
    this.#relays = reporters.map((reporter) => this.#report(reporter));
  }

  /** Resolves when every service has acknowledged a batch that was sent after this call. */
  async goesOn(): Promise<void> {
    const since = performance.now();
    const hasGoneOn = (url: string) =>
      this.#acknowledgements.some((each) => each.url === url && each.sentAt > since);
    while (![...this.#urls].every(hasGoneOn)) await sleep(20);
  }

  /** The ms from `since` until the end of the longest time without an acknowledgement by one of the services. */
  pauseSince(since: number): number {
    const pauses = [...this.#urls].map((url) => {
      const times = this.#acknowledgements
        .filter((each) => each.url === url && each.at > since)
        .map(({ at }) => at);
      const steps = times.map((at, index) => ({ at, length: at - (times[index - 1] ?? since) }));
      return steps.toSorted((a, b) => b.length - a.length)[0]!.at - since;
    });
    return Math.max(...pauses);
  }

  /** Resolves when the last batch of each relay is acknowledged. Returns how many records were. */
  async stop(): Promise<number> {
    this.#stopping.abort();
    await Promise.all(this.#relays);
    return [...this.#acknowledged.values()].reduce((sum, ids) => sum + ids.length, 0);
  }

  /** After `stop()`: one line for each record that was acknowledged and is not stored, or the other way round. */
  async findDifferences(db: Pool): Promise<string[]> {
    const { rows } = await db.query<{ tenant: TenantId; id: string }>(
      'select tenant_id as tenant, id from usage_records where tenant_id = any ($1)',
      [[...this.#acknowledged.keys()]],
    );
    const stored = new Set(rows.map(({ tenant, id }) => `${tenant} ${id}`));
    const acknowledged = new Set(
      [...this.#acknowledged].flatMap(([tenant, ids]) => ids.map((id) => `${tenant} ${id}`)),
    );
    return [
      ...[...acknowledged.difference(stored)].map((each) => `lost: ${each}`),
      ...[...stored.difference(acknowledged)].map((each) => `not acknowledged: ${each}`),
    ];
  }

  async #report({ url, tenant, relayKey: key }: Reporter): Promise<void> {
    const ids: string[] = [];
    this.#acknowledged.set(tenant, ids);
    while (!this.#stopping.signal.aborted) {
      const records = Array.from({ length: RECORDS }, () => ({ ...RECORD, id: randomUUID() }));
      await this.#deliver(url, key, records);
      ids.push(...records.map(({ id }) => id));
      await sleep(PAUSE_MS);
    }
  }

  async #deliver(url: string, key: string, records: readonly unknown[]): Promise<void> {
    for (;;) {
      const sentAt = performance.now();
      try {
        await post(`${url}/v1/usage`, key, { records });
        this.#acknowledgements.push({ url, sentAt, at: performance.now() });
        return;
      } catch {
        await sleep(RETRY_MS);
      }
    }
  }
}
