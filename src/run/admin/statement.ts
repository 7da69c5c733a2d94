/** `admin statement ...` */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { JwsError } from '../../access/tokens/jws.ts';
import type { PublicJwk } from '../../access/tokens/signing-key.ts';
import { type VerifiedStatement, verifyStatement } from '../../access/tokens/verify-statement.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros } from '../../money/amount.ts';
import { type Month, parseMonth } from '../../money/month.ts';
import type { BillingDetails } from '../../money/statements/billing-details.ts';
import { buildStatement } from '../../money/statements/build-statement.ts';
import { NotAStatementError } from '../../money/statements/read-statement.ts';
import {
  hasGrants,
  isOfUtc,
  MOVEMENT_GROUPS,
  type MovementGroup,
  type Statement,
  spentOfGrants,
} from '../../money/statements/statement.ts';
import { digestOf, renderStatement } from '../../money/statements/statement-document.ts';
import { type JsonOption, tenantArgument, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';

export function statementCommands(program: Command): void {
  const statement = program.command('statement').description('the account of a tenant in one month');
  show(statement);
  verify(statement);
}

function show(statement: Command): void {
  withJson(statement.command('show').description('what was paid, taken back and used, as the tenant sees it'))
    .addArgument(tenantArgument())
    .argument('<month>', 'such as 2026-10, in the time zone of the tenant', parseMonthArgument)
    .option('--so-far', 'also of a month that is not over, up to now')
    .action(async (tenant: TenantId, month: Month, { json, soFar }: { soFar?: true } & JsonOption) => {
      await withDatabase(async ({ db, config }) => {
        const found = await buildStatement({ db, config }, tenant, month, { soFar: soFar ?? false });
        if (json) printJson(renderStatement(found));
        else printStatement(found);
      });
    });
}

function parseMonthArgument(text: string): Month {
  const month = parseMonth(text);
  if (!month) throw new InvalidArgumentError('It must be a month such as 2026-10.');
  return month;
}

function printStatement(statement: Statement): void {
  printSummary(statement);
  for (const group of MOVEMENT_GROUPS) printMovements(statement, group);
  printUsage(statement);
}

function printSummary(statement: Statement, more: Readonly<Record<string, string>> = {}): void {
  const {
    issuer,
    issuerDetails,
    tenant,
    month,
    opening,
    payments,
    reversals,
    adjustments,
    grants,
    usage,
    closing,
  } = statement;
  printFields({
    ...more,
    tenant: renderTenantId(tenant.id),
    name: tenant.name,
    ...fieldsOf('', tenant.details),
    month,
    ...(!isOfUtc(statement) && {
      'time zone': statement.zone,
      from: statement.from.toISOString(),
      to: statement.to.toISOString(),
    }),
    issuer,
    ...fieldsOf('issuer ', issuerDetails),
    opening: displayMicros(opening),
    payments: displayMicros(payments.sum),
    reversals: displayMicros(reversals.sum),
    adjustments: displayMicros(adjustments.sum),
    ...(hasGrants(statement) && {
      grants: displayMicros(grants.sum),
      'spent of grants': displayMicros(spentOfGrants(statement)),
    }),
    usage: displayMicros(-usage.sum.amount),
    closing: displayMicros(closing),
    unbilled: displayMicros(usage.sum.unbilled),
    ...(statement.soFar ? { 'so far': 'the month is not over' } : { 'SHA-256': digestOf(statement) }),
  });
}

function fieldsOf(prefix: string, { name, address, taxId }: BillingDetails): Record<string, string> {
  return {
    ...(name !== undefined && { [`${prefix}legal name`]: name }),
    ...(address.length > 0 && { [`${prefix}address`]: address.join('; ') }),
    ...(taxId !== undefined && { [`${prefix}tax id`]: taxId }),
  };
}

function printMovements(statement: Statement, group: MovementGroup): void {
  const { entries, others } = statement[group];
  if (entries.length === 0) return;
  printLine();
  printTable(
    [
      group,
      'kind',
      'amount',
      'reference',
      group === 'adjustments' || group === 'grants' ? 'reason' : 'of payment',
    ],
    entries.map(({ at, kind, amount, reference, detail, payment }) => [
      at,
      kind,
      displayMicros(amount),
      reference,
      detail ?? payment,
    ]),
    { right: ['amount'] },
  );
  if (others) printLine(`and ${others.count} more: ${displayMicros(others.sum)}`);
}

function printUsage({ usage: { rooms, others } }: Statement): void {
  if (rooms.length === 0) return;
  printLine();
  printTable(
    ['room', 'records', 'seconds', 'bytes sent', 'cost', 'unbilled'],
    rooms.map(({ room, records, seconds, egressBytes, amount, unbilled }) => [
      room,
      records,
      seconds,
      egressBytes,
      displayMicros(amount),
      displayMicros(unbilled),
    ]),
    { right: ['records', 'seconds', 'bytes sent', 'cost', 'unbilled'] },
  );
  if (others) printLine(`and ${others.rooms} more rooms: ${displayMicros(others.amount)}`);
}

function verify(statement: Command): void {
  withJson(
    statement.command('verify').description('whether a statement was signed by one of the keys, and adds up'),
  )
    .argument('<file>', 'an answer of GET /v1/statements/<month>, or its jws alone')
    .requiredOption('--keys <file or URL>', 'the published keys, /.well-known/statement-keys.json')
    .addHelpText('after', '\nNeeds no database and no service. Exit code 1 unless the statement is valid.')
    .action(async (file: string, { keys, json }: { keys: string } & JsonOption) => {
      const text = await readFile(file, 'utf8');
      reportVerdict(judge(text, await readKeys(keys)), json);
    });
}

type Verdict = VerifiedStatement | { readonly reason: string };

function judge(text: string, keys: readonly PublicJwk[]): Verdict {
  try {
    return verifyStatement(text, keys);
  } catch (error) {
    if (error instanceof JwsError || error instanceof NotAStatementError) return { reason: error.message };
    throw error;
  }
}

function reportVerdict(verdict: Verdict, json = false): void {
  if ('reason' in verdict) {
    if (json) printJson({ valid: false, reason: verdict.reason });
    else process.stderr.write(`not valid: ${verdict.reason}\n`);
    process.exitCode = 1;
    return;
  }
  const { statement, kid } = verdict;
  if (json)
    printJson({ valid: true, kid, sha256: digestOf(statement), statement: renderStatement(statement) });
  else printSummary(statement, { valid: 'yes', 'signed by': kid });
}

const DOWNLOAD_MS_MAX = 10_000;

async function readKeys(from: string): Promise<PublicJwk[]> {
  const text = /^https?:\/\//.test(from) ? await download(from) : await readFile(from, 'utf8');
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)) return keys;
  } catch {
    // What is not JSON is no list of keys either.
  }
  throw new Error(`${from} is no list of keys (a JSON Web Key Set)`);
}

async function download(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS_MAX) });
    if (answer.ok) return await answer.text();
    throw new Error(`status ${answer.status}`);
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${url} cannot be read: ${cause instanceof Error ? cause.message : message}`);
  }
}
