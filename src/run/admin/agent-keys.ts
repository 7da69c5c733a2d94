/** `admin agent-keys`: keys with which agents call the tools of `/mcp`. */
import { Argument, type Command, Option } from 'commander';
import {
  AGENT_DAYS_MAX,
  AGENT_DAYS_USUAL,
  AGENT_ROLES,
  AGENT_WRITES_MAX,
  type AgentKey,
  type AgentRole,
} from '../../access/agents/agent-key.ts';
import { createAgentKey } from '../../access/agents/create-agent-key.ts';
import { listAgentKeys } from '../../access/agents/list-agent-keys.ts';
import { revokeAgentKey } from '../../access/agents/revoke-agent-key.ts';
import { KEY_NAME_LENGTH_MAX } from '../../access/keys/api-key.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type JsonOption, parseText, tenantArgument, wholeNumber, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly role: AgentRole;
  readonly writesPerDay: number;
  readonly days: number;
}

export function agentKeysCommands(program: Command): void {
  const keys = program
    .command('agent-keys')
    .description('keys with which agents of a tenant call the tools of /mcp, and nothing else');
  create(keys);
  list(keys);
  revoke(keys);
}

function create(keys: Command): void {
  const days = wholeNumber(1, AGENT_DAYS_MAX);
  withJson(keys.command('create').description('create one, which is printed once'))
    .addArgument(tenantArgument())
    .addOption(
      new Option('--name <text>', 'which agent it is for')
        .argParser((text) => parseText(text, KEY_NAME_LENGTH_MAX))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--role <role>', 'what it may see and do, as people in the console')
        .choices(AGENT_ROLES)
        .default('viewer'),
    )
    .option(
      '--writes-per-day <n>',
      `writes in any 24 hours, ${AGENT_WRITES_MAX} at most`,
      wholeNumber(0, AGENT_WRITES_MAX),
      0,
    )
    .option('--days <n>', `until it expires, ${AGENT_DAYS_MAX} at most`, days, AGENT_DAYS_USUAL)
    .action(async (tenant: TenantId, { json, ...wanted }: CreateOptions) => {
      await withDatabase(async ({ db }) => {
        const { key, plaintext } = await inTransaction(db, (tx) =>
          createAgentKey(tx, { tenant, actor: operator() }, wanted),
        );
        if (json) printJson({ ...keyJson(key), agent_key: plaintext });
        else printFields({ key: key.id, role: key.role, expires: key.expiresAt, 'agent key': plaintext });
      });
    });
}

function list(keys: Command): void {
  withJson(keys.command('list').description('those of a tenant: first those that work, then the newest'))
    .addArgument(tenantArgument())
    .action(async (tenant: TenantId, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        const found = await listAgentKeys(db, tenant);
        if (json) return printJson(found.map((key) => ({ ...keyJson(key), writes_used: key.writesUsed })));
        printTable(
          ['id', 'role', 'writes a day', 'used', 'expires', 'revoked', 'name'],
          found.map((key) => [
            ...[key.id, key.role, key.writesPerDay, key.writesUsed],
            ...[key.expiresAt, key.revokedAt, key.name],
          ]),
          { right: ['writes a day', 'used'] },
        );
      });
    });
}

function revoke(keys: Command): void {
  withJson(keys.command('revoke').description('let one work no longer'))
    .addArgument(tenantArgument())
    .addArgument(new Argument('<key id>', 'as 16 hex digits'))
    .action(async (tenant: TenantId, id: string, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        const caller = { tenant, actor: operator() };
        const key = await inTransaction(db, (tx) => revokeAgentKey(tx, caller, id));
        if (json) printJson(keyJson(key));
        else printLine(`${key.id} is revoked`);
      });
    });
}

function keyJson({ id, name, role, writesPerDay, createdAt, expiresAt, revokedAt }: AgentKey) {
  return {
    ...{ id, name, role, writes_per_day: writesPerDay },
    ...{ created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt },
  };
}
