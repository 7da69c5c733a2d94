/** The role that owns nothing archives, too, and can delete nothing else. */
import { expect, test } from 'vitest';
import { archiveRecords } from '../../../src/money/records/archive-records.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });

/** What a version from before the archive does when it starts. */
const startOlderVersion = () =>
  app.database.pool.query('select grant_application_rights($1)', [
    new URL(app.database.applicationUrl).username,
  ]);

test('rows of archived records go, and no others, and an older version does not start any more', async () => {
  const { deps } = app.service;
  const tenant = await app.paidTenant();
  await report(app, tenant, manyRecords(60));
  await startOlderVersion();
  await archiveRecords({ ...deps, config: { archiveAfterSeconds: 0 } });
  await expect(startOlderVersion()).rejects.toThrow(
    'usage records are archived, and this version of the service cannot read them: start a newer version',
  );
  await report(app, tenant, manyRecords(2));
  const idsOfRows = async () => {
    const { rows } = await deps.db.query<{ id: string }>(
      'select id from usage_records where tenant_id = $1',
      [idOf(tenant)],
    );
    return rows.map(({ id }) => id);
  };
  const left = await idsOfRows();
  expect(left).toHaveLength(2);
  await deps.db.query('select delete_archived_records($1, $2)', [idOf(tenant), left]);
  expect(await idsOfRows()).toEqual(left);
  for (const table of ['usage_records', 'record_chunks']) {
    await expect(deps.db.query(`delete from ${table}`)).rejects.toThrow(
      `permission denied for table ${table}`,
    );
  }
});
