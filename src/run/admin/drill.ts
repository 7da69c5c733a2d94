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
import { type JsonOption, parseTime, withJson } from './arguments.ts';
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
    .addHelpText(
      'after',
      '\nThe service of the drill sends no webhooks and no mails, and does not know the provider. Exit code 1 when the' +
        '\nbackup cannot be restored, or anything in it is wrong.',
    )
    .action((folder: string, options: Options, command: Command) =>
      options.until && options.wal === undefined
        ? command.error('error: --until needs --wal')
        : tryRestore(folder, options, command),
    );
}

async function tryRestore(folder: string, options: Options, command: Command): Promise<void> {
  const { wal, until, scratch, payments = false, json } = options;
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
  if (json) printJson(resultJson(result));
  else printResult(result, payments);
  if (result.findings.differences.length > 0 || result.unknown.some(isWrong)) process.exitCode = 1;
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

function resultJson({ backup, findings, unknown, lost, ...rest }: DrillResult) {
  const tenants = (each: Difference) => ({ ...each, tenant: renderTenantId(each.tenant) });
  return {
    backup: backup.name,
    verified: findings.differences.length === 0,
    ...rest,
    differences: findings.differences.map(tenants),
    at_provider: unknown.map(tenants),
    lost: lost ?? null,
    rpo_seconds: lost?.seconds ?? null,
    rto_seconds: rtoOf(rest.seconds),
  };
}

function printResult(
  { backup, moment, restored, findings, unknown, lost, seconds }: DrillResult,
  payments: boolean,
) {
  const { restore, start, verify } = seconds;
  printFindings(findings);
  printFields({
    backup: backup.name,
    'restored to': moment,
    holds: renderCounts(restored),
    'would be lost': lost ? renderCounts(lost) : 'not known',
    RPO: lost && `${lost.seconds.toFixed(1)} s`,
    RTO: `${rtoOf(seconds).toFixed(1)} s: restored in ${restore.toFixed(1)}, serves after ${start.toFixed(1)}; checked in ${verify.toFixed(1)}`,
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

function rtoOf({ restore, start }: DrillResult['seconds']): number {
  return restore + start;
}
