/** `admin console login`: a link that logs in to the console of a tenant once, for tenants whose mail is lost. */
import { type Command, Option } from 'commander';
import { CONSOLE_PATH, makeLink } from '../../access/sessions/request-login.ts';
import { LINK_MINUTES } from '../../access/sessions/session.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { type JsonOption, parseTenant, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

export function consoleCommands(program: Command): void {
  const commands = program.command('console').description('the pages of a tenant');
  withJson(
    commands
      .command('login')
      .description(`print a link that logs in as an owner, once, within ${LINK_MINUTES} minutes`),
  )
    .addOption(
      new Option('--tenant <id>', 'the tenant, as t_ and 16 hex digits')
        .argParser(parseTenant)
        .makeOptionMandatory(),
    )
    .action(async ({ tenant, json }: { tenant: TenantId } & JsonOption) => {
      await withDatabase(async ({ db, config }) => {
        const found = await findTenant(db, tenant);
        if (!found) throw new Failure('not_found');
        if (found.status !== 'pending' && found.status !== 'active') throw new Failure('tenant_not_active');
        const actor = operator();
        const url = await inTransaction(db, async (tx) => {
          const subject = renderTenantId(tenant);
          const entry = { action: 'console_link_made', subject, before: null, after: null };
          await appendAudit(tx, tenant, actor, entry);
          const link = { proof: 'operator', tenant, operator: actor.id, next: CONSOLE_PATH } as const;
          return makeLink(tx, config.publicUrl, link);
        });
        if (json) printJson({ url });
        else printLine(url);
      });
    });
}
