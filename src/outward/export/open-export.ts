/** Everything that is stored about a tenant, as lines of JSON: one for each row, with the name of its table. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db, Pool } from '../../base/db/pool.ts';
import { openSnapshot } from '../../base/db/snapshot.ts';
import { Failure } from '../../base/failure.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { EXPORTED, lockExport, readLines, useUtc } from './exported-rows.sql.ts';

export interface TenantExport {
  /** Pages of whole lines, which are read as fast as they are taken: a large ledger needs no more memory than a small one. */
  readonly pages: AsyncIterable<string>;
  /** Must be called, also after an export that was not read to its end. */
  close(): Promise<void>;
}

export interface ExportOptions {
  /** Fail with `export_running` while another export of the tenant runs that has this too, in whatever process. */
  readonly isExclusive?: boolean;
  readonly stopping?: AbortSignal;
  /** Called after each page, with all rows so far. */
  readonly onProgress?: ((table: string, rows: number) => void) | undefined;
}

/** All lines are of one state of the database. Fails with `not_found`. */
export async function openExport(
  { db }: { readonly db: Pool },
  actor: Actor,
  tenant: TenantId,
  { isExclusive = false, stopping, onProgress }: ExportOptions = {},
): Promise<TenantExport> {
  await getTenant(db, tenant);
  const snapshot = await openSnapshot(db, { stopping });
  try {
    if (isExclusive && !(await lockExport(snapshot.db, tenant))) throw new Failure('export_running');
    // Before it begins, because an export that is stopped was read in part.
    await appendAudit(db, tenant, actor, {
      action: 'tenant_exported',
      subject: renderTenantId(tenant),
      before: null,
      after: null,
    });
    await useUtc(snapshot.db);
  } catch (error) {
    await snapshot.close();
    throw error;
  }
  return { pages: readPages(snapshot.db, tenant, onProgress), close: snapshot.close };
}

async function* readPages(
  snapshot: Db,
  tenant: TenantId,
  onProgress: ExportOptions['onProgress'],
): AsyncGenerator<string> {
  let done = 0;
  for (const table of Object.keys(EXPORTED)) {
    for await (const lines of readLines(snapshot, tenant, table)) {
      yield `${lines.join('\n')}\n`;
      done += lines.length;
      onProgress?.(table, done);
    }
  }
}
