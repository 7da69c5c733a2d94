/** `admin tenants export`: everything that is stored about a tenant, as lines of JSON. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Actor } from '../../base/audit/actor.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { openExport } from '../../outward/export/open-export.ts';
import { tenantArgument } from './arguments.ts';
import { type Connected, withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { startProgress } from './progress.ts';

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

/** Reads rows no faster than `out` takes them. */
export async function exportTenant(
  connected: Connected,
  actor: Actor,
  tenant: TenantId,
  out: Writable,
): Promise<void> {
  const progress = process.stderr.isTTY ? startProgress() : undefined;
  const onProgress = (table: string, rows: number) => progress?.at(`exporting ${table}: ${rows} rows so far`);
  try {
    const { pages, close } = await openExport(connected, actor, tenant, { onProgress });
    try {
      await pipeline(Readable.from(pages, { highWaterMark: 1 }), out, { end: false });
    } finally {
      await close();
    }
  } finally {
    progress?.stop();
  }
}
