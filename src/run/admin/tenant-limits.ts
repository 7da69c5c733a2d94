/** `admin tenants limits` */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { changeLimits } from '../../base/limits/change-limits.ts';
import {
  LIMIT_MAX,
  LIMIT_MIN,
  type LimitedTenant,
  type LimitOverrides,
  limitOf,
  parseLimit,
} from '../../base/tenants/limits.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { LIMIT_NAMES, type LimitName, TENANT_LIMITS } from '../../doors/tenant-limits.ts';
import { type JsonOption, parsed, parseReason, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printTable } from './output.ts';

interface LimitsOptions extends JsonOption {
  readonly set?: LimitOverrides;
  readonly reset?: readonly LimitName[];
  readonly reason?: string;
}

export function limitsCommand(tenants: Command): void {
  withJson(
    tenants
      .command('limits')
      .description('what one tenant may hold or do at once; with options, change it for this tenant'),
  )
    .addArgument(tenantArgument())
    .addOption(
      new Option('--set <name=value...>', `a whole number from ${LIMIT_MIN} to ${LIMIT_MAX}`).argParser(
        parseSet,
      ),
    )
    .addOption(new Option('--reset <name...>', 'back to what every tenant has').argParser(parseReset))
    .addOption(new Option('--reason <text>', 'why, for readers of the audit trail').argParser(parseReason))
    .addHelpText('after', `\nLimits: ${LIMIT_NAMES.join(', ')}.`)
    .action(
      async (tenant: TenantId, { set = {}, reset = [], reason, json }: LimitsOptions, command: Command) => {
        const both = reset.find((name) => name in set);
        if (both) command.error(`error: '${both}' is both set and reset`);
        await withDatabase(async ({ db }) => {
          const limited = await changeLimits(db, operator(), tenant, { set, reset, reason });
          if (json)
            printJson({ id: renderTenantId(tenant), status: limited.status, limits: limitsJson(limited) });
          else printLimits(limited);
        });
      },
    );
}

/** `changed`: by an operator. */
export function limitsJson(tenant: LimitedTenant) {
  return Object.fromEntries(
    TENANT_LIMITS.map((limit) => [
      limit.name,
      { max: limitOf(tenant, limit), changed: isChanged(tenant, limit.name) },
    ]),
  );
}

export function printLimits(tenant: LimitedTenant): void {
  printTable(
    ['limit', 'max', 'changed', 'of'],
    TENANT_LIMITS.map((limit) => [
      limit.name,
      limitOf(tenant, limit),
      isChanged(tenant, limit.name),
      limit.unit,
    ]),
    { right: ['max'] },
  );
}

function isChanged({ limits }: LimitedTenant, name: LimitName): boolean {
  return limits?.[name] !== undefined;
}

function parseSet(text: string, previous: LimitOverrides = {}): LimitOverrides {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('It must be name=value, such as rooms=20000.');
  const limit = parseName(name);
  const wrong = `${name} must be a whole number from ${LIMIT_MIN} to ${LIMIT_MAX}.`;
  return { ...previous, [limit]: parsed(parseLimit(value), wrong) };
}

function parseReset(text: string, previous: readonly LimitName[] = []): readonly LimitName[] {
  return [...previous, parseName(text)];
}

function parseName(text: string): LimitName {
  const name = LIMIT_NAMES.find((each) => each === text);
  if (!name) throw new InvalidArgumentError(`'${text}' is not one of ${LIMIT_NAMES.join(', ')}.`);
  return name;
}
