/** `admin drill restore`: restores the newest backup aside, and says what a disaster would cost now. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { withSnapshot } from '../../base/db/snapshot.ts';
import { hideSecrets } from '../../base/telemetry/log.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { Difference } from '../../money/verification/verify.sql.ts';
import { readConfig } from '../config.ts';
import { renderCounts } from '../recovery/counts.ts';
import { type DatabaseState, findDatabaseState } from '../recovery/database-state.sql.ts';
import { type DrillResult, runDrill } from '../recovery/run-drill.ts';
import { type JsonOption, parseNumber, parseTime, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printFields, printJson, printLine, printTable } from './output.ts';
import { withProgress } from './progress.ts';
import { requireProviderOf } from './provider.ts';
import { untilSignal } from './until-signal.ts';
import { printFindings } from './verify.ts';

interface Options extends JsonOption {
  readonly wal?: string;
  readonly until?: Date;
  readonly scratch: string;
  readonly payments?: boolean;
  readonly maxLoss?: number;
}

/** More of them are counted only. */
const SHOWN_MAX = 20;

export function drillCommands(program: Command): void {
  const drills = program.command('drill').description('try what a disaster would need');
  withJson(
    drills
      .command('restore')
      .description(
        'restore the newest backup into a server of its own, start a service on it, check every sum, and say what would be lost',
      )
      .argument('<folder>', 'the folder of all backups'),
  )
    .option('--wal <folder>', 'archived WAL that follows the files of a server')
    .option('--until <time>', 'restore the state of this time, by files and WAL', parseTime)
    .option('--scratch <folder>', 'where the database is restored, with room for all of it', tmpdir())
    .option('--payments', 'ask the provider what it has and the restored database does not')
    .option('--max-loss <seconds>', 'fail if the newest moment that can be restored is older', parseNumber)
    .addHelpText(
      'after',
      '\nThe service of the drill sends no webhooks and no mails, and does not know the provider. Exit code 1 when the' +
        '\nbackup cannot be restored, anything in it is wrong, or more than --max-loss would be lost.',
    )
    .action((folder: string, options: Options, command: Command) => {
      const { until, wal, maxLoss } = options;
      if (until && wal === undefined) command.error('error: --until needs --wal');
      if (until && maxLoss !== undefined)
        command.error('error: --max-loss is about the newest moment, without --until');
      return tryRestore(folder, options, command);
    });
}

async function tryRestore(folder: string, options: Options, command: Command): Promise<void> {
  const { wal, until, scratch, payments = false, maxLoss, json } = options;
  const config = readConfig(process.env);
  const provider = payments ? await requireProviderOf(config, command) : undefined;
  const live = await findLive();
  process.umask(0o077);
  const result = await untilSignal((ending) =>
    withProgress((at) =>
      runDrill({
        ...{ folder: resolve(folder), scratch: resolve(scratch), wal: wal && resolve(wal), until },
        ...{ live, provider, config, at, ending },
      }),
    ),
  );
  const rpo = until === undefined ? result.age : undefined;
  if (json) printJson(resultJson(result, rpo));
  else printResult(result, rpo, payments);
  if (result.findings.differences.length > 0 || result.unknown.some(isWrong)) process.exitCode = 1;
  if (maxLoss === undefined || result.age <= maxLoss) return;
  process.stderr.write(`${result.age.toFixed(1)} s would be lost, and --max-loss is ${maxLoss}\n`);
  process.exitCode = 1;
}

/** `undefined` after a disaster, for which the drill is. */
async function findLive(): Promise<DatabaseState | undefined> {
  let live: DatabaseState | undefined;
  try {
    await withDatabase(async ({ db }) => {
      live = await withSnapshot(db, findDatabaseState);
    });
  } catch (error) {
    process.stderr.write(`what would be lost is not known: ${hideSecrets((error as Error).message)}\n`);
  }
  return live;
}

/** What is credited does not change. Everything else may have come after the backup. */
function isWrong({ what, expected, found }: Difference): boolean {
  return expected.startsWith('no such ') || (what.startsWith('payment ') && found !== 'not credited');
}

function resultJson({ backup, findings, unknown, lost, age, ...rest }: DrillResult, rpo: number | undefined) {
  const tenants = (each: Difference) => ({ ...each, tenant: renderTenantId(each.tenant) });
  return {
    backup: backup.name,
    verified: findings.differences.length === 0,
    ...rest,
    differences: findings.differences.map(tenants),
    at_provider: unknown.map(tenants),
    lost: lost ? { ...lost, seconds: age } : null,
    rpo_seconds: rpo ?? null,
    rto_seconds: rtoOf(rest.seconds),
  };
}

function printResult(
  { backup, moment, restored, findings, unknown, lost, seconds }: DrillResult,
  rpo: number | undefined,
  payments: boolean,
) {
  const { restore, start, verify } = seconds;
  printFindings(findings);
  printFields({
    backup: backup.name,
    'restored to': moment,
    holds: renderCounts(restored),
    'would be lost': lost ? renderCounts(lost) : 'not known',
    RPO: rpo === undefined ? 'not of the newest moment: --until' : `${rpo.toFixed(1)} s old`,
    RTO: `${rtoOf(seconds).toFixed(1)} s: restored in ${restore.toFixed(1)}, started in ${start.toFixed(1)}, checked in ${verify.toFixed(1)}`,
    'at the provider': payments ? `${unknown.length} not as restored` : 'not asked: --payments',
  });
  if (unknown.length === 0) return;
  printLine();
  printTable(
    ['tenant', 'what', 'at the provider', 'restored'],
    unknown
      .slice(0, SHOWN_MAX)
      .map((each) => [renderTenantId(each.tenant), each.what, each.expected, each.found]),
  );
  if (unknown.length > SHOWN_MAX) printLine(`and ${unknown.length - SHOWN_MAX} more`);
}

/** The time of all steps: what has not been checked is not served again. */
function rtoOf({ restore, start, verify }: DrillResult['seconds']): number {
  return restore + start + verify;
}
