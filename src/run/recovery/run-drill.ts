/** A drill: a backup is restored beside everything else, served, and checked as after a disaster. */
import { pino } from 'pino';
import { findStaleMigration } from '../../base/db/migrate.ts';
import { openPool, type Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import type { Provider } from '../../money/payments/provider.ts';
import { type AtStep, type Findings, findDifferences } from '../../money/verification/find-differences.ts';
import type { Difference } from '../../money/verification/verify.sql.ts';
import type { Config } from '../config.ts';
import { budgetConnections } from '../connection-budget.ts';
import { findSecretsKey } from '../secrets-key.ts';
import { findNewest, isPast, type StoredBackup } from './backup.ts';
import { areCounts, type Counts, differenceOf, renderCounts } from './counts.ts';
import { type DatabaseState, findDatabaseState } from './database-state.sql.ts';
import { inDraft } from './draft.ts';
import { type Restored, restoreBackup } from './restore-backup.ts';

export interface DrillOptions {
  /** Where the backups are. */
  readonly folder: string;
  /** Where the database is restored. */
  readonly scratch: string;
  readonly wal?: string | undefined;
  readonly until?: Date | undefined;
  /** What would be lost with the database that serves; `undefined`: it cannot be asked. */
  readonly live: DatabaseState | undefined;
  /** Is asked, and changes nothing; `undefined`: it is not asked. */
  readonly provider: Provider | undefined;
  readonly config: Config;
  readonly at: AtStep;
  readonly ending: AbortSignal;
}

export interface DrillResult {
  readonly backup: StoredBackup;
  /** Nothing later is in it. */
  readonly moment: Date;
  readonly restored: Counts;
  readonly findings: Findings;
  /** What the provider has, and the restored database does not. */
  readonly unknown: readonly Difference[];
  /** What the live database has, and the restored one does not. */
  readonly lost: Counts | undefined;
  /** How old the moment was when the drill began. */
  readonly age: number;
  readonly seconds: { readonly restore: number; readonly start: number; readonly verify: number };
}

export async function runDrill(options: DrillOptions): Promise<DrillResult> {
  const { folder, wal, until, live, scratch } = options;
  const now = live?.moment ?? new Date();
  const backup = findNewest(folder, { isBase: wal !== undefined, until });
  if (!isPast(backup)) throw new Error(`${backup.name} is not from the past: a clock is wrong, or was`);
  if (live && live.deployment !== backup.deployment) {
    throw new Error(
      `${backup.name} is of another deployment: that was set up at ${backup.deployment}, and this one at ${live.deployment}`,
    );
  }
  const secretsKey = await findSecretsKey(options.config, { mayMake: false });
  return inDraft(scratch, async (draft) => {
    const begun = performance.now();
    options.at(`restoring ${backup.name}`, 0n, 0n);
    const restored = await restoreBackup(backup, { ...options, scratch: draft });
    try {
      const restore = secondsSince(begun);
      return await check(options, { backup, restored, secretsKey, restore, now });
    } finally {
      await restored.stop();
    }
  });
}

interface Checked {
  readonly backup: StoredBackup;
  readonly restored: Restored;
  readonly secretsKey: Buffer;
  readonly restore: number;
  readonly now: Date;
}

async function check(
  { config, live, provider, at, ending }: DrillOptions,
  { backup, restored, secretsKey, restore, now }: Checked,
): Promise<DrillResult> {
  const { url, moment } = restored;
  const db = openPool(url, { max: 2, applicationName: 'boxoffice drill' });
  try {
    const stale = await findStaleMigration(db);
    if (stale?.isNewer) throw new Error(`${backup.name} needs a newer version: ${stale.why}`);
    const startedAt = performance.now();
    await serve(config, restored, secretsKey, ending);
    const start = secondsSince(startedAt);
    const checkedAt = performance.now();
    const counts = await withSnapshot(db, findDatabaseState);
    assertWhole(backup, counts);
    const findings = await findDifferences(db, { at, stopping: ending });
    const unknown = provider ? await compareAtProvider(db, provider, ending) : [];
    return {
      backup,
      moment,
      restored: counts,
      findings,
      unknown,
      lost: live && differenceOf(live, counts),
      age: (now.getTime() - moment.getTime()) / 1_000,
      seconds: { restore, start, verify: secondsSince(checkedAt) },
    };
  } finally {
    await db.end();
  }
}

/** It updates an older database, opens the signing keys, and answers. Nothing it does leaves this process. */
async function serve(
  config: Config,
  { url, applicationUrl }: Restored,
  secretsKey: Buffer,
  ending: AbortSignal,
): Promise<void> {
  const { startService } = await import('../service.ts');
  const tied = {
    ...config,
    ...{
      host: '127.0.0.1',
      port: 0,
      grpcPort: 0,
      opsPort: undefined,
      tls: undefined,
      joinAddress: undefined,
    },
    ...{ databaseUrl: applicationUrl ?? url, databaseDirectUrl: undefined, secretsKey },
    migrationsDatabaseUrl: applicationUrl && url,
    ...{ stripeSecretKey: undefined, stripeWebhookSecrets: [], mail: undefined, oidc: undefined },
    ...{
      ratesFile: undefined,
      webhookClientTls: undefined,
      connectionBudget: budgetConnections(1, undefined),
    },
  };
  const service = await startService(tied, pino({ level: 'silent' }), { isTied: true, ending });
  try {
    const { status } = await fetch(`http://127.0.0.1:${service.port}/.well-known/jwks.json`);
    if (status !== 200) throw new Error(`the service on the restored database answers ${status}`);
  } finally {
    await service.stop();
  }
}

/** A dump holds what was counted; files hold that and what came later. */
function assertWhole(backup: StoredBackup, restored: Counts): void {
  const more = differenceOf(restored, backup);
  if (areCounts(more, (count) => count === 0n || (count > 0n && backup.kind === 'base'))) return;
  throw new Error(
    `${backup.name} was not restored whole: it has ${renderCounts(backup)}, and the database ${renderCounts(restored)}`,
  );
}

async function compareAtProvider(db: Pool, { stripe }: Provider, signal: AbortSignal): Promise<Difference[]> {
  const { compareWithProvider } = await import('../../money/verification/compare-provider.ts');
  const found: Difference[] = [];
  for await (const each of compareWithProvider(db, stripe, { signal })) found.push(each);
  return found;
}

const secondsSince = (begun: number) => (performance.now() - begun) / 1_000;
