/**
 * What a process found lately in archived chunks for batches that repeat their records: so a batch that could not read all of its chunks
 * in time goes on where it ended, when its relay sends it again.
 *
 * A chunk that was read is known for all ids that its tenant's batches had asked for by then. Ids are numbered in the order in which they
 * were first asked for, so that nothing is kept for each pair of an id and a chunk.
 */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { StoredRecord } from './stored-record.ts';
import type { UsageRecords } from './usage-records.ts';

/** After its last use. */
const KEPT_MS = 60_000;
/** What is kept of tenants that paid, and of those that never did. */
const BYTES_MAX = 32 * 2 ** 20;
/** One tenant has at most this part. The largest batch needs less. */
const TENANT_SHARE = 1 / 4;
/** About what an entry takes beside its texts. */
const BYTES_OF_ID = 100;
const BYTES_OF_RECORD = 300;
const BYTES_OF_CHUNK = 200;

/** A chunk that was read. */
export interface KnownChunk {
  /** As it was then. `undefined`: there was no such chunk. */
  readonly version: string | undefined;
  /** It was read for so many ids, the first that were asked for. */
  readonly ids: number;
  /** Those with one of the ids. */
  readonly records: readonly StoredRecord[];
}

/** What is known of the chunks of a tenant. */
export class TenantMemory {
  readonly #ids = new Map<string, number>();
  readonly #chunks = new Map<number, KnownChunk>();
  readonly #added = new WeakSet<UsageRecords>();
  readonly #onGrow: (bytes: number) => void;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number, onGrow: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onGrow = onGrow;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** All that were asked for. */
  get ids(): Pick<ReadonlySet<string>, 'has'> & { readonly size: number } {
    return this.#ids;
  }

  /** Ask for the ids of a batch. A chunk has to be read for as many ids as this returns. */
  ask(records: UsageRecords): number {
    let [needed, bytes] = [0, 0];
    for (let row = 0; row < records.length; row += 1) {
      const id = records.id(row);
      const place = this.#ids.get(id) ?? this.#ids.size;
      if (place === this.#ids.size) {
        this.#ids.set(id, place);
        bytes += BYTES_OF_ID + id.length;
      }
      needed = Math.max(needed, place + 1);
    }
    this.#added.add(records);
    this.#grow(bytes);
    return needed;
  }

  /** Ask for the ids of batches that wait, too, so that they need no reading of their own; not for more than there is room for. */
  askAlong(waiting: Iterable<UsageRecords>): void {
    for (const records of waiting) {
      if (this.#bytes > this.#bytesMax / 2) return;
      if (!this.#added.has(records)) this.ask(records);
    }
  }

  chunk(number: number): KnownChunk | undefined {
    return this.#chunks.get(number);
  }

  put(number: number, chunk: KnownChunk): void {
    const before = bytesOf(this.#chunks.get(number));
    this.#chunks.set(number, chunk);
    this.#grow(bytesOf(chunk) - before);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    this.#onGrow(bytes);
  }
}

interface Kept {
  readonly memory: TenantMemory;
  usedAt: number;
}

/** The tenants of one standing. */
class Part {
  readonly #bytesMax: number;
  /** The first was not used for longest. */
  readonly #kept = new Map<TenantId, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  of(tenant: TenantId, now: number): TenantMemory {
    const kept = this.#kept.get(tenant) ?? { memory: this.#begin(tenant), usedAt: now };
    kept.usedAt = now;
    this.#kept.delete(tenant);
    this.#kept.set(tenant, kept);
    return kept.memory;
  }

  /** Forget those that were not used since. */
  sweep(before: number): void {
    for (const [tenant, { memory, usedAt }] of this.#kept) {
      if (usedAt > before) return;
      this.#forget(tenant, memory);
    }
  }

  #begin(tenant: TenantId): TenantMemory {
    const bytesMax = this.#bytesMax * TENANT_SHARE;
    const memory = new TenantMemory(bytesMax, (bytes) => {
      // What was forgotten may still be in use.
      if (this.#kept.get(tenant)?.memory !== memory) return;
      this.#bytes += bytes;
      if (memory.bytes > bytesMax) this.#forget(tenant, memory);
      else this.#makeRoom(memory);
    });
    return memory;
  }

  #makeRoom(growing: TenantMemory): void {
    for (const [tenant, { memory }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      if (memory !== growing) this.#forget(tenant, memory);
    }
  }

  #forget(tenant: TenantId, memory: TenantMemory): void {
    this.#kept.delete(tenant);
    this.#bytes -= memory.bytes;
  }
}

export class RepeatMemory {
  readonly #parts: { readonly paid: Part; readonly neverPaid: Part };
  readonly #now: () => number;

  constructor({ bytesMax = BYTES_MAX, now = () => performance.now() } = {}) {
    this.#parts = { paid: new Part(bytesMax), neverPaid: new Part(bytesMax) };
    this.#now = now;
  }

  /** What all of it takes. */
  get bytes(): number {
    return this.#parts.paid.bytes + this.#parts.neverPaid.bytes;
  }

  of(tenant: TenantId, hasPaid: boolean): TenantMemory {
    const now = this.#now();
    for (const part of Object.values(this.#parts)) part.sweep(now - KEPT_MS);
    return this.#parts[hasPaid ? 'paid' : 'neverPaid'].of(tenant, now);
  }
}

function bytesOf(chunk: KnownChunk | undefined): number {
  if (!chunk) return 0;
  const texts = chunk.records.map(
    ({ id, room, participant }) => id.length + (room?.length ?? 0) + (participant?.length ?? 0),
  );
  return texts.reduce((sum, bytes) => sum + bytes + BYTES_OF_RECORD, BYTES_OF_CHUNK);
}
