/** `admin usage ...` */
import type { Command } from 'commander';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Conflict, differencesOf } from '../../money/usage/conflict.ts';
import { listConflicts } from '../../money/usage/list-conflicts.ts';
import { type JsonOption, limitOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';

export function usageCommands(program: Command): void {
  const usage = program.command('usage').description('what relays reported');
  withJson(
    usage
      .command('conflicts')
      .description('ids that came again with other values; only the first was charged'),
  )
    .addArgument(tenantArgument())
    .addOption(limitOption(100))
    .action(async (tenant: TenantId, { limit, json }: { limit: number } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        await getTenant(db, tenant);
        const { conflicts } = await listConflicts(db, tenant, { size: limit });
        if (json) return printJson(conflicts.map(conflictJson));
        if (conflicts.length === 0) return printLine('no conflicts');
        printTable(
          ['record', 'times', 'first', 'last', 'charged -> reported'],
          conflicts.map((each) => [each.id, each.times, each.firstAt, each.lastAt, describeDifference(each)]),
          { right: ['times'] },
        );
      });
    });
}

function conflictJson({ id, times, firstAt, lastAt, accepted, reported }: Conflict) {
  return { id, times, first_at: firstAt, last_at: lastAt, accepted, reported };
}

/** `seconds 60 -> 61, role host -> audience` */
function describeDifference(conflict: Conflict): string {
  return differencesOf(conflict)
    .map(({ name, charged, reported }) => `${name} ${charged} -> ${reported}`)
    .join(', ');
}
