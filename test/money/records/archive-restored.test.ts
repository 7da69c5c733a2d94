/** The archive is in the database, so a restored database has it. */
import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { findDifferences } from '../../../src/money/verification/find-differences.ts';
import { startService } from '../../../src/run/service.ts';
import { manyRecords } from '../../doors/rest/ledger-routes.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { useDumpServer } from '../../support/dump.ts';
import { ask } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const server = useDumpServer();

async function open(databaseUrl: string) {
  const service = await startService(bareConfig(databaseUrl), pino({ level: 'silent' }));
  const report = async (key: string, records: readonly unknown[]) =>
    (await ask(`http://127.0.0.1:${service.port}/v1/usage`, 'POST', { key, body: { records } })).json;
  const archive = () => archiveRecords({ ...service.deps, config: { archiveAfterSeconds: 0 } });
  return { db: service.deps.db, stop: () => service.stop(), report, archive };
}

test(`a restored database knows archived ids, and archives on (${server.means})`, async () => {
  const name = `archive_${randomBytes(6).toString('hex')}`;
  const before = await open(await server.create(name));
  const tenant = await makeTenant(before.db, { status: 'active' });
  const { plaintext: key } = await makeKey(before.db, tenant, 'relay');
  const [archived, rows] = [manyRecords(60), manyRecords(7)];
  await before.report(key, archived);
  await before.archive();
  await before.report(key, rows);
  await before.stop();
  await server.dump(name, `dump_${name}`);

  const restored = await open(await server.restore(`dump_${name}`, `restored_${name}`));
  onTestFinished(() => restored.stop());
  expect(await restored.report(key, [...archived, ...rows, ...manyRecords(2)])).toMatchObject({
    charged: 2,
    duplicates: 67,
  });
  await restored.archive();
  expect(await restored.report(key, [...archived, ...rows])).toMatchObject({ charged: 0, duplicates: 67 });
  expect((await findDifferences(restored.db, { at: () => {} })).differences).toEqual([]);
});
