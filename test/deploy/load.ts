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
  readonly tenant: TenantId;
  readonly sentAt: number;
  readonly at: number;
}

/** An answer that was no acknowledgement, or no answer. */
export interface Refusal {
  readonly tenant: TenantId;
  readonly at: number;
  readonly message: string;
}

/** Records of each batch. */
const RECORDS = 5;
const RECORD = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };
const PAUSE_MS = 100;
const RETRY_MS = 100;

export class Load {
  readonly #acknowledged = new Map<TenantId, string[]>();
  readonly #acknowledgements: Acknowledgement[] = [];
  readonly #refusals: Refusal[] = [];
  readonly #stopping = new AbortController();
  readonly #urls: ReadonlySet<string>;
  readonly #relays: readonly Promise<void>[];

  constructor(reporters: readonly Reporter[]) {
    this.#urls = new Set(reporters.map(({ url }) => url));
    this.#relays = reporters.map((reporter) => this.#report(reporter));
  }

  /** Resolves when every service has acknowledged a batch that was sent after this call. */
  async goesOn(): Promise<void> {
    await this.#hasAcknowledged([...this.#urls], ({ url }) => url);
  }

  /** Resolves when each of these tenants has an acknowledgement of a batch that was sent after this call. */
  async goesOnFor(tenants: readonly TenantId[]): Promise<void> {
    await this.#hasAcknowledged(tenants, ({ tenant }) => tenant);
  }

  async #hasAcknowledged<T>(all: readonly T[], of: (each: Acknowledgement) => T): Promise<void> {
    const since = performance.now();
    const left = new Set(all);
    for (let at = this.#acknowledgements.length; left.size > 0; await sleep(20)) {
      for (; at < this.#acknowledgements.length; at += 1) {
        const each = this.#acknowledgements[at]!;
        if (each.sentAt > since) left.delete(of(each));
      }
    }
  }

  /** The longest time that one of these tenants was without an acknowledgement, from `since` until now, in ms. */
  longestPause(tenants: readonly TenantId[], since: number): number {
    const now = performance.now();
    const pauses = tenants.flatMap((tenant) => {
      const times = this.#acknowledgements
        .filter((each) => each.tenant === tenant && each.at > since)
        .map(({ at }) => at);
      return [...times, now].map((at, index) => at - (times[index - 1] ?? since));
    });
    return Math.max(...pauses);
  }

  refusalsSince(since: number): readonly Refusal[] {
    return this.#refusals.filter(({ at }) => at > since);
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
  async findDifferences(db: Pick<Pool, 'query'>): Promise<string[]> {
    const [stored, acknowledged] = [await this.stored(db), this.acknowledged()];
    return [
      ...[...acknowledged.difference(stored)].map((each) => `lost: ${each}`),
      ...[...stored.difference(acknowledged)].map((each) => `not acknowledged: ${each}`),
    ];
  }

  /** The records that are acknowledged by now, each with its tenant. */
  acknowledged(): ReadonlySet<string> {
    return new Set([...this.#acknowledged].flatMap(([tenant, ids]) => ids.map((id) => `${tenant} ${id}`)));
  }

  /** The records of these tenants in a database, in the same form. */
  async stored(db: Pick<Pool, 'query'>): Promise<ReadonlySet<string>> {
    const { rows } = await db.query<{ tenant: TenantId; id: string }>(
      'select tenant_id as tenant, id from usage_records where tenant_id = any ($1)',
      [[...this.#acknowledged.keys()]],
    );
    return new Set(rows.map(({ tenant, id }) => `${tenant} ${id}`));
  }

  async #report(reporter: Reporter): Promise<void> {
    const ids: string[] = [];
    this.#acknowledged.set(reporter.tenant, ids);
    while (!this.#stopping.signal.aborted) {
      const records = Array.from({ length: RECORDS }, () => ({ ...RECORD, id: randomUUID() }));
      await this.#deliver(reporter, records);
      ids.push(...records.map(({ id }) => id));
      await sleep(PAUSE_MS);
    }
  }

  async #deliver({ url, tenant, relayKey: key }: Reporter, records: readonly unknown[]): Promise<void> {
    for (;;) {
      const sentAt = performance.now();
      try {
        await post(`${url}/v1/usage`, key, { records });
        this.#acknowledgements.push({ url, tenant, sentAt, at: performance.now() });
        return;
      } catch (error) {
        this.#refusals.push({ tenant, at: performance.now(), message: (error as Error).message });
        await sleep(RETRY_MS);
      }
    }
  }
}
