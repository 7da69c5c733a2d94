/** Archives made-up ids, as moving usage records does. */
import { inTransaction } from '../../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../../src/base/tenants/tenant.ts';
import { hashText } from '../../../../src/money/records/known-ids/id-hash.ts';
import { insertRun } from '../../../../src/money/records/known-ids/insert-run.ts';
import { withoutTriggers } from '../../../support/append-only.ts';
import type { TestDatabase } from '../../../support/database.ts';

export const hashesOf = (ids: readonly string[]) => Float64Array.from(ids, hashText);

/** Changes pages as the service never does. The database refuses it otherwise. */
export function spoilPages(database: TestDatabase, change: string, values: readonly unknown[] = []) {
  return withoutTriggers(database.pool, ['known_id_pages'], (tx) => tx.query(change, [...values]));
}

/** A tenant whose ids are archived, a chunk at a time. */
export class ArchivingTenant {
  readonly tenant: TenantId;
  readonly #database: TestDatabase;
  /** The chunk of each id. */
  readonly chunkOf = new Map<string, number>();
  chunks = 0;
  /** What the last move returned. */
  isMergeDue = false;

  constructor(database: TestDatabase, tenant: bigint) {
    this.#database = database;
    this.tenant = tenant as TenantId;
  }

  /** Each chunk takes one posting. */
  get archivedSeq(): bigint {
    return BigInt(this.chunks);
  }

  get ids(): string[] {
    return [...this.chunkOf.keys()];
  }

  /** Archive so many new ids. Returns their hashes. */
  async archive(count: number): Promise<Float64Array> {
    const chunk = this.chunks + 1;
    const ids = Array.from({ length: count }, (_, at) => `${this.tenant}-${chunk}-${at}`);
    const hashes = hashesOf(ids);
    const archived = { hashes, chunk, lastSeq: BigInt(chunk) };
    this.isMergeDue = await inTransaction(this.#database.pool, (tx) => insertRun(tx, this.tenant, archived));
    this.chunks = chunk;
    for (const id of ids) this.chunkOf.set(id, chunk);
    return hashes;
  }
}
