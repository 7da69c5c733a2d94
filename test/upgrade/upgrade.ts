/** One upgrade: an old version fills a database, both serve it under load while the new one migrates, and the old one is stopped last. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { CREDIT_DOLLARS, fill, openAccount, openClient } from './account.ts';
import { findGaps } from './find-gaps.ts';
import { type Account, type Call, Load, loadSdk, newBatch, type Sdk } from './load.ts';
import { ROOT, withOldTree } from './old-tree.ts';
import { readForLong } from './read-for-long.ts';
import { type Urls, Version } from './version.ts';
import { type LockWaits, watchLocks } from './watch-locks.ts';

/** Before the new version starts, while both serve, and after the old one has stopped. */
const PHASE_MS = 3_000;
/** From the begin of the migration on, something reads every table for so long. */
const READ_MS = 1_000;

export interface Upgrade {
  readonly calls: number;
  /** How long others waited for locks of the migration. */
  readonly waits: LockWaits;
  /** The longest call while the new version started. */
  readonly longest: Call | undefined;
  /** What came of a start of the old version on the new database. */
  readonly downgrade: string;
  readonly failures: readonly string[];
}

/** In an empty database. The old version stores so many records before the new one starts. */
export function runUpgrade(commit: string, urls: Urls, records: number): Promise<Upgrade> {
  return withOldTree(commit, async (root) => {
    const db = openPool(urls.owner, { max: 3, applicationName: 'upgrade' });
    const receiver = await startReceiver();
    const before = await Version.prepare('the old version', root, urls);
    const after = await Version.prepare('the new version', ROOT, urls);
    try {
      return await upgrade({ before, after, db, receiver }, records);
    } finally {
      await before.stop();
      await after.stop();
      await db.end();
      // Events of an old version are as its own schemas say.
      await receiver.close().catch(() => undefined);
    }
  });
}

interface Stage {
  readonly before: Version;
  readonly after: Version;
  readonly db: Pool;
  readonly receiver: Receiver;
}

async function upgrade({ before, after, db, receiver }: Stage, records: number): Promise<Upgrade> {
  await before.start();
  const [oldSdk, newSdk] = [await loadSdk(before.root), await loadSdk(after.root)];
  const account = await openAccount(oldSdk, before, db, receiver.url());
  const filled = await fill(openClient(oldSdk, before, account.tenant, account.relayKey), records);
  const load = new Load([oldSdk, newSdk], account);
  load.open(before);
  load.start();
  await sleep(PHASE_MS);

  const begun = performance.now();
  const waits = await startBeside(after, db);
  const started = performance.now();
  load.open(after);
  await sleep(PHASE_MS);

  await load.drain(before);
  const exitCode = await before.stop();
  if (exitCode !== 0) load.failures.push(`the old version ended with exit code ${exitCode}`);
  await sleep(PHASE_MS);
  await load.end();

  load.failures.push(...(await findFaults(newSdk, after, account, load, filled, receiver)));
  await after.stop();
  const downgrade = await tryDowngrade(oldSdk, before, account, load);
  const during = load.calls.filter(({ at, ms }) => at + ms >= begun && at <= started);
  return {
    calls: load.calls.length,
    waits,
    longest: during.toSorted((a, b) => b.ms - a.ms)[0],
    downgrade,
    failures: [...new Set(load.failures)],
  };
}

/** Returns how long others waited for its migrations. */
async function startBeside(version: Version, db: Pool): Promise<LockWaits> {
  const started = new AbortController();
  const migrating = Promise.withResolvers<void>();
  const watching = watchLocks(db, started.signal, migrating.resolve);
  const reading = readForLong(
    db,
    migrating.promise.then(() => sleep(READ_MS)),
  );
  try {
    await version.start();
  } finally {
    // It may have had nothing to migrate.
    migrating.resolve();
    started.abort();
    await reading;
  }
  return await watching;
}

/** What was acknowledged is stored and charged once, what is stored adds up, and each event was told. */
async function findFaults(
  sdk: Sdk,
  version: Version,
  account: Account,
  load: Load,
  filled: bigint,
  receiver: Receiver,
): Promise<string[]> {
  const faults = await findLost(openClient(sdk, version, account.tenant, account.relayKey), load);
  const client = openClient(sdk, version, account.tenant, account.key);
  const found = BigInt((await client.billing.get()).balance.micros);
  const expected = CREDIT_DOLLARS * 1_000_000n - filled - load.micros;
  if (found !== expected)
    faults.push(`the balance is ${found} micros, and ${expected} by what was acknowledged`);
  const { key } = await client.keys.create({ name: 'the last one', kind: 'relay' });
  client.close();
  faults.push(...(await findGaps(receiver, key.id)));
  await version.admin('verify').catch((error: { readonly stdout?: string; readonly message: string }) => {
    faults.push(`verify: ${error.stdout || error.message}`);
  });
  return faults;
}

/** Every batch is reported once more: all of its records have to be known. Closes the client. */
async function findLost(client: InstanceType<Sdk>, { batches }: Load): Promise<string[]> {
  let lost = 0;
  for (const batch of batches) lost += batch.length - (await client.usage.report(batch)).duplicates;
  client.close();
  return lost > 0 ? [`${lost} acknowledged records were lost`] : [];
}

/** The old version serves the new database, or is refused in one line. */
async function tryDowngrade(
  sdk: Sdk,
  before: Version,
  { tenant, relayKey }: Account,
  load: Load,
): Promise<string> {
  try {
    await before.start();
  } catch (error) {
    const said = (error as Error).message.trim();
    if (said.includes('\n')) load.failures.push(`a downgrade is refused in several lines: ${said}`);
    return `refused: ${said}`;
  }
  const client = openClient(sdk, before, tenant, relayKey);
  try {
    await client.usage.report(newBatch('downgrade', 0, 10));
    load.failures.push(...(await findLost(client, load)));
    return 'works';
  } catch (error) {
    load.failures.push(`after a downgrade: ${(error as Error).message}`);
    return 'fails';
  } finally {
    client.close();
    await before.stop();
  }
}
