/**
 * Updates from old versions, while both versions serve one database. `npm run test:upgrade` tries those before the ten newest migrations and
 * the last tag, with more records and the conformance suite of the SDK: `VERSIONS`, `RECORDS`, `CONFORMANCE`, and `LOCK_MS`, which others may
 * wait for locks of a migration.
 */
import { describe, expect, inject, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { findConformanceProblems } from './find-conformance-problems.ts';
import { findOldVersions } from './old-versions.ts';
import { runUpgrade, type Upgrade } from './upgrade.ts';

const { VERSIONS = '1', RECORDS = '10000', CONFORMANCE } = process.env;
/** In a run of all tests, a busy machine is no fault of a migration. */
const { LOCK_MS = '2000' } = process.env;
const TIMEOUT_MS = 3_600_000;

const versions = findOldVersions(Number(VERSIONS));

function describeUpgrade({ calls, waits, longest, downgrade }: Upgrade): string {
  const call = longest && `${Math.round(longest.ms)} ms (${longest.name})`;
  return (
    `${calls} calls, the longest meanwhile ${call}; ${Math.round(waits.migratingMs)} ms of migrating, ` +
    `a lock kept others waiting for ${Math.round(waits.longest)} ms (${waits.table ?? 'none'}); downgrade: ${downgrade}`
  );
}

if (versions.length === 0) {
  test('from an old version', ({ skip }) => {
    skip('this clone has no commits from before the newest migration: git fetch --unshallow');
  });
}

describe.skipIf(inject('citusServers').length > 0).each(versions)('from the version $name', ({ commit }) => {
  const database = useDatabase({ empty: true });
  const another = useDatabase({ empty: true, makesUpEvents: true });

  test('no call fails, nothing is lost or charged twice, and no lock keeps others waiting', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const urls = { application: database.applicationUrl, owner: database.url };
    const upgrade = await runUpgrade(commit, urls, Number(RECORDS));
    if (process.env.VERSIONS !== undefined) console.log(describeUpgrade(upgrade));
    expect(upgrade.failures).toEqual([]);
    expect(upgrade.waits.longest, upgrade.waits.table).toBeLessThan(Number(LOCK_MS));
  });

  if (!CONFORMANCE) return;
  test('the SDKs of both find what they expect', { timeout: TIMEOUT_MS }, async () => {
    expect(await findConformanceProblems(commit, another.url)).toEqual([]);
  });
});
