/** `admin top-ups ...` */
import type { Command } from 'commander';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { unfreezeTopUps } from '../../money/top-ups/unfreeze-top-ups.ts';
import { type JsonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

export function topUpsCommands(program: Command): void {
  const topUps = program.command('top-ups').description('automatic top-ups');
  withJson(
    topUps
      .command('unfreeze')
      .description(
        'forget the disputes, fraud warnings, parked payments, declines and pauses that stop them',
      ),
  )
    .addArgument(tenantArgument())
    .action(async (tenant: TenantId, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        const frozenBy = await unfreezeTopUps(db, operator(), tenant);
        if (json) return printJson({ id: renderTenantId(tenant), was_frozen_by: frozenBy });
        const reasons = frozenBy.length > 0 ? `; they were frozen by ${frozenBy.join(', ')}` : '';
        printLine(`automatic top-ups of ${renderTenantId(tenant)} are no longer stopped${reasons}`);
      });
    });
}
