/** `admin tenants rename` */
import { type Command, Option } from 'commander';
import { renameTenant } from '../../access/operators/rename-tenant.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { renderTenantId, TENANT_NAME_LENGTH_MAX, type TenantId } from '../../base/tenants/tenant.ts';
import { type JsonOption, parseText, reasonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine } from './output.ts';

type RenameOptions = { readonly name: string; readonly reason: string } & JsonOption;

export function renameCommand(tenants: Command): void {
  withJson(
    tenants
      .command('rename')
      .description('change the name; statements of months that are over keep the old one'),
  )
    .addArgument(tenantArgument())
    .addOption(
      new Option('--name <text>', 'the new one')
        .argParser((text) => parseText(text, TENANT_NAME_LENGTH_MAX))
        .makeOptionMandatory(),
    )
    .addOption(reasonOption())
    .action(async (tenant: TenantId, { name, reason, json }: RenameOptions) => {
      await withDatabase(async ({ db }) => {
        await inTransaction(db, (tx) => renameTenant(tx, operator(), tenant, { name, reason }));
        const id = renderTenantId(tenant);
        if (json) printJson({ id, name });
        else printLine(`${id} is ${name}`);
      });
    });
}
