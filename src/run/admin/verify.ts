/** `admin verify`: checks everything that is stored. */
import type { Command } from 'commander';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { type Findings, findDifferences } from '../../money/verification/find-differences.ts';
import { DIFFERENCES_MAX } from '../../money/verification/verify.sql.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';
import { withProgress } from './progress.ts';
import { requireProviderOf } from './provider.ts';

export function verifyCommand(program: Command): void {
  withJson(
    program
      .command('verify')
      .description(
        'add everything up again and compare: balances, chains, records, payments, carries, sums of usage, alerts, every charge',
      ),
  )
    .option(
      '--payments',
      'also compare with the payments, refunds and disputes of the provider (STRIPE_SECRET_KEY, or the sandbox)',
    )
    .addHelpText(
      'after',
      '\nReads one state of the database throughout, beside a running service or without one. Exit code 1 when' +
        '\nanything differs. A payment whose notification is still on its way differs until it has arrived.',
    )
    .action(async ({ payments = false, json }: { payments?: boolean } & JsonOption, command: Command) => {
      await withDatabase(async ({ db, config }) => {
        const provider = payments ? await requireProviderOf(config, command) : undefined;
        const findings = await withProgress((at) => findDifferences(db, { provider, at }));
        if (json) printFindingsJson(findings);
        else printFindings(findings);
        if (findings.differences.length > 0) process.exitCode = 1;
      });
    });
}

export function printFindings({ size, differences, more }: Findings): void {
  if (differences.length === 0) {
    printLine(`ok: ${size.tenants} tenants, ${size.postings} postings, ${size.records} records`);
    return;
  }
  printTable(
    ['tenant', 'what', 'expected', 'found'],
    differences.map((each) => [renderTenantId(each.tenant), each.what, each.expected, each.found]),
  );
  if (more) printLine(`and more: only the first ${DIFFERENCES_MAX} of a kind are shown`);
}

function printFindingsJson({ size, differences, more }: Findings): void {
  printJson({
    ok: differences.length === 0,
    ...size,
    differences: differences.map((each) => ({ ...each, tenant: renderTenantId(each.tenant) })),
    more,
  });
}
