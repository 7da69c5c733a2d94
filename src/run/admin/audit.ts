/** `admin audit`: who changed what, of all tenants and of the whole service. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AuditEntry, isAction } from '../../base/audit/audit-entry.ts';
import { listAuditOfAll } from '../../base/audit/list-audit.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { type JsonOption, limitOption, parseTenant, parseTime, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';

interface AuditOptions extends JsonOption {
  readonly tenant?: TenantId;
  readonly action?: string;
  readonly subject?: string;
  readonly since?: Date;
  readonly limit: number;
}

export function auditCommand(program: Command): void {
  withJson(program.command('audit').description('who changed what, the newest change first'))
    .addOption(new Option('--tenant <id>', 'only of this tenant').argParser(parseTenant))
    .addOption(new Option('--action <name>', 'only this, such as key_revoked').argParser(parseAction))
    .option('--subject <id>', 'only changes of what has this id')
    .addOption(new Option('--since <time>', 'a day (UTC), or a time with its offset').argParser(parseTime))
    .addOption(limitOption(100))
    .action(async ({ tenant, action, subject, since, limit, json }: AuditOptions) => {
      await withDatabase(async ({ db }) => {
        const found = await listAuditOfAll(db, { tenant, action, subject, from: since, limit });
        if (json) return printJson(found.map(entryJson));
        if (found.length === 0) return printLine('no entries');
        printTable(
          ['at', 'tenant', 'actor', 'address', 'action', 'subject', 'before -> after'],
          found.map((each) => [
            each.at,
            each.tenant === null ? null : renderTenantId(each.tenant),
            `${each.actorKind} ${each.actorId}`,
            each.address,
            each.action,
            each.subject,
            describeChange(each),
          ]),
        );
      });
    });
}

function entryJson(entry: AuditEntry) {
  return {
    id: entry.id,
    tenant: entry.tenant === null ? null : renderTenantId(entry.tenant),
    at: entry.at,
    actor: { kind: entry.actorKind, id: entry.actorId, address: entry.address },
    action: entry.action,
    subject: entry.subject,
    before: entry.before,
    after: entry.after,
  };
}

function describeChange({ before, after }: AuditEntry): string {
  if (before && after) return `${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
  return before || after ? JSON.stringify(after ?? before) : '';
}

function parseAction(text: string): string {
  if (!isAction(text)) {
    throw new InvalidArgumentError('It must be words in lower case, such as key_revoked.');
  }
  return text;
}
