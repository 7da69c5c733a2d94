/** `admin participants ...` */
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { advanceErasure } from '../../control/people/advance-erasures.ts';
import type { Erasure } from '../../control/people/erasure.ts';
import { getErasure } from '../../control/people/get-erasure.ts';
import { requestErasure } from '../../control/people/request-erasure.ts';
import { type JsonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';
import { withProgress } from './progress.ts';

/** While the service is at work on a part of it. */
const LOOK_EVERY_MS = 50;

export function participantsCommands(program: Command): void {
  const participants = program.command('participants').description('people who were in rooms');
  withJson(
    participants
      .command('erase')
      .description(
        'erase the name of a person from everything that is stored; amounts stay. Waits until it is done',
      ),
  )
    .addArgument(tenantArgument())
    .argument('<name>', 'the name, as usage records and tokens have it')
    .addHelpText(
      'after',
      '\nIt cannot be undone. Refused while the person is in a room. If the command is stopped, the service goes on.',
    )
    .action(async (tenant: TenantId, name: string, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        await getTenant(db, tenant);
        const { id, records, others } = await erase(db, tenant, name);
        if (json) return printJson({ id, tenant: renderTenantId(tenant), records, others });
        printLine(
          `erased from ${records} usage records and ${others} other rows of ${renderTenantId(tenant)}`,
        );
      });
    });
}

async function erase(db: Pool, tenant: TenantId, name: string): Promise<Erasure> {
  // Without a service that numbers events, they wait for the next start.
  let erasure = await inTransaction(db, (tx) => requestErasure(tx, operator(), tenant, name));
  return withProgress(async (at) => {
    while (erasure.state === 'pending') {
      at(`erasing: ${erasure.records} usage records`);
      const hasWorked = await advanceErasure(db, { tenant, id: erasure.id });
      erasure = await getErasure(db, tenant, erasure.id);
      if (!hasWorked && erasure.state === 'pending') await wait(LOOK_EVERY_MS);
    }
    return erasure;
  });
}
