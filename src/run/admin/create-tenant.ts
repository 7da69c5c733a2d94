/** `admin tenants create`: a tenant without a signup, and so without the limits on signups. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createTenant } from '../../access/signup/create-tenant.ts';
import { isMailAddress } from '../../base/tenants/mail-address.ts';
import { EMAIL_LENGTH_MAX, renderTenantId, TENANT_NAME_LENGTH_MAX } from '../../base/tenants/tenant.ts';
import { type JsonOption, parseText, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printFields, printJson } from './output.ts';

export function createCommand(tenants: Command): void {
  withJson(tenants.command('create').description('create a tenant with its first key, which is printed once'))
    .addOption(new Option('--name <text>', 'of the customer').argParser(parseName).makeOptionMandatory())
    .addOption(new Option('--email <address>', 'of the customer').argParser(parseEmail).makeOptionMandatory())
    .action(async ({ name, email, json }: { name: string; email: string } & JsonOption) => {
      await withDatabase(async ({ db, config }) => {
        const { tenant, keyId, apiKey } = await createTenant(db, operator(), config.keyPrefix, {
          name,
          email,
        });
        const id = renderTenantId(tenant);
        if (json) printJson({ id, status: 'pending', key_id: keyId, api_key: apiKey });
        else printFields({ tenant: id, status: 'pending', key: keyId, 'API key': apiKey });
      });
    });
}

function parseName(text: string): string {
  return parseText(text, TENANT_NAME_LENGTH_MAX);
}

function parseEmail(text: string): string {
  if (!isMailAddress(text)) {
    throw new InvalidArgumentError(`It must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters.`);
  }
  return text;
}
