/** `admin tenants export`: everything that is stored about a tenant, as lines of JSON. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { tenantArgument } from './arguments.ts';
import { type Connected, withDatabase, withSnapshot } from './database.ts';
import { EXPORTED, readLines, useUtc } from './export.sql.ts';
import { operator } from './operator.ts';
import { type Progress, startProgress } from './progress.ts';

export function exportCommand(tenants: Command): void {
  tenants
    .command('export')
    .description(
      'print everything that is stored about a tenant as NDJSON, one line for each row; no secrets',
    )
    .addArgument(tenantArgument())
    .addHelpText(
      'after',
      '\nReads one state of the database throughout, beside a running service or without one. Amounts are in micros.',
    )
    .action(async (tenant: TenantId) => {
      await withDatabase((connected) => exportTenant(connected, operator(), tenant, process.stdout));
    });
}

/** Reads rows no faster than `out` takes them, so the memory that it needs does not depend on their number. */
export async function exportTenant(
  connected: Connected,
  actor: Actor,
  tenant: TenantId,
  out: Writable,
): Promise<void> {
  if (!(await findTenant(connected.db, tenant))) throw new Failure('not_found');
  // Before it begins, because an export that is stopped was read in part.
  await appendAudit(connected.db, tenant, actor, {
    action: 'tenant_exported',
    subject: renderTenantId(tenant),
    before: null,
    after: null,
  });
  const progress = process.stderr.isTTY ? startProgress() : undefined;
  try {
    await withSnapshot(connected, async (snapshot) => {
      const pages = Readable.from(readPages(snapshot, tenant, progress), { highWaterMark: 1 });
      await pipeline(pages, out, { end: false });
    });
  } finally {
    progress?.stop();
  }
}

async function* readPages(
  snapshot: Db,
  tenant: TenantId,
  progress: Progress | undefined,
): AsyncGenerator<string> {
  await useUtc(snapshot);
  let done = 0;
  for (const table of Object.keys(EXPORTED)) {
    for await (const lines of readLines(snapshot, tenant, table)) {
      yield `${lines.join('\n')}\n`;
      done += lines.length;
      progress?.at(`exporting ${table}: ${done} rows so far`);
    }
  }
}
