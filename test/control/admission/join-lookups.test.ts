import { expect, onTestFinished, test, vi } from 'vitest';
import { hashKey } from '../../../src/access/keys/api-key.ts';
import { openPool } from '../../../src/base/db/pool.ts';
import { GatheredAdmissions } from '../../../src/control/admission/gathered-admissions.ts';
import { findJoinLookups } from '../../../src/control/admission/join-lookups.sql.ts';
import { createCredential, deviceKey, expectJoined, join } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { useService } from '../../support/service.ts';
import { testOneServer } from '../../support/step-forms.ts';

const app = useService();
const db = () => app.service.deps.db;
const joining = { room: undefined, username: 'ann', thumbprint: 'a'.repeat(43), address: undefined };
const shownBy = ({ id, credential }: { id: string; credential: string }) => ({
  id,
  hash: hashKey(credential),
  isCounted: true,
  joining,
});

test('each that may join is counted, in order; no other is', async () => {
  const tenant = await app.paidTenant();
  const [one, two, silent, revoked] = await Promise.all([
    createCredential(app, tenant),
    createCredential(app, tenant),
    createCredential(app, tenant, { publish: [] }),
    createCredential(app, tenant),
  ]);
  const change = 'update device_credentials set revoked_at = now() where id = $1';
  await changeReferenceTable(db(), change, [revoked.id]);

  const shown = [
    shownBy(one),
    { ...shownBy(one), hash: hashKey('wrong') },
    shownBy(two),
    shownBy(one),
    shownBy(silent),
    { ...shownBy(one), id: '0123456789abcdef' },
    shownBy(revoked),
    shownBy(one),
  ];
  const points = async () => (await findJoinLookups(db(), shown)).map((found) => found?.joins?.points);
  expect(await points()).toEqual([1, undefined, 1, 2, undefined, undefined, undefined, 3]);
  expect(await points()).toEqual([4, undefined, 2, 5, undefined, undefined, undefined, 6]);
  const { rows } = await db().query(
    "select count(*)::integer as count from rate_limits where key like 'join:%'",
  );
  expect(rows).toEqual([{ count: 2 }]);
});

testOneServer('the state is that of the room that is asked for, or of the default room', async () => {
  const tenant = await app.paidTenant();
  const device = await createCredential(app, tenant, { default_room: 'hall' });
  expectJoined(await join(app, device.credential, { key: deviceKey() }));
  const shown = [
    shownBy(device),
    { ...shownBy(device), joining: { ...joining, room: 'hall' } },
    { ...shownBy(device), joining: { ...joining, room: 'elsewhere' } },
    { ...shownBy(device), joining: undefined },
  ];
  const found = await findJoinLookups(db(), shown);
  expect(found.map((each) => each?.state?.isPresent)).toEqual([true, true, false, undefined]);
  expect(found.map((each) => each?.state?.roomState)).toEqual(['LIVE', 'LIVE', null, undefined]);
  expect(found.map((each) => each?.credentialId)).toEqual(found.map(() => device.id));
});

test('one that was counted before is not counted again, and reads the state', async () => {
  const device = await createCredential(app, await app.paidTenant());
  const again = { ...shownBy(device), isCounted: false };
  const found = await findJoinLookups(db(), [again, shownBy(device), again]);
  expect(found.map((each) => each?.joins?.points)).toEqual([undefined, 1, undefined]);
  const { rows } = await db().query('select points from rate_limits where key = $1', [`join:${device.id}`]);
  expect(rows).toEqual([{ points: 1 }]);
});

testOneServer('the state of one that is not counted is read with it', async () => {
  const device = await createCredential(app, await app.paidTenant());
  const [found] = await findJoinLookups(db(), [{ ...shownBy(device), isCounted: false }]);
  expect(found?.state?.status).toBe('active');
});

testOneServer('a wrong secret reads no state of the user', async () => {
  const device = await createCredential(app, await app.paidTenant());
  expectJoined(await join(app, device.credential, { room: 'hall', key: deviceKey() }));
  const shown = { ...shownBy(device), joining: { ...joining, room: 'hall' } };
  const [right, wrong] = await findJoinLookups(db(), [shown, { ...shown, hash: hashKey('wrong') }]);
  expect([right?.state?.roomState, wrong?.state?.roomState]).toEqual(['LIVE', undefined]);
});

testOneServer('joins beyond the limit read no state', async () => {
  const device = await createCredential(app, await app.paidTenant());
  const lookUp = async (count: number) => {
    const found = await findJoinLookups(db(), Array(count).fill(shownBy(device)));
    return found.map((each) => [each?.joins?.points, each?.state?.status]);
  };
  expect(await lookUp(29)).toEqual(Array.from({ length: 29 }, (_, at) => [at + 1, 'active']));
  // The one within the limit looks its state up by itself.
  expect(await lookUp(2)).toEqual([30, 31].map((points) => [points, undefined]));
});

testOneServer('the state of a tenant that never paid is not read with those of others', async () => {
  const [paid, free] = await Promise.all([
    createCredential(app, await app.paidTenant()),
    createCredential(app, await app.signUp()),
  ]);
  const found = await findJoinLookups(db(), [shownBy(free), shownBy(paid)]);
  expect(found.map((each) => each?.joins?.points)).toEqual([1, 1]);
  expect(found.map((each) => each?.state?.status)).toEqual([undefined, 'active']);
});

test('a counter that stays locked fails the joins of its credential after a second, and delays no others', async () => {
  const tenant = await app.paidTenant();
  const [locked, ...others] = await Promise.all(
    Array.from({ length: 6 }, () => createCredential(app, tenant)),
  );
  const pool = openPool(db().options.connectionString!, { max: 4, plansByKey: true });
  onTestFinished(() => pool.end());
  const gathered = new GatheredAdmissions(pool);
  await gathered.lookUp(shownBy(locked!));
  const holder = await openHolder(db());
  await holder.query('select from rate_limits where key = $1 for update', [`join:${locked!.id}`]);
  const begun = performance.now();
  const own = Promise.allSettled(Array.from({ length: 30 }, () => gathered.lookUp(shownBy(locked!))));
  const slowest: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const asked = performance.now();
    await Promise.all(others.map((each) => gathered.lookUp(shownBy(each))));
    slowest.push(performance.now() - asked);
  }
  // The first shares a statement with those that wait.
  expect(slowest.filter((ms) => ms > 900)).toEqual([]);
  expect(await own).toEqual(
    Array(30).fill({ status: 'rejected', reason: expect.objectContaining({ code: '55P03' }) }),
  );
  expect(performance.now() - begun).toBeLessThan(5_000);
  await holder.release();
  expect(await gathered.lookUp(shownBy(locked!))).toMatchObject({ joins: { points: 2 } });
});

testOneServer('a credential last seen of a tenant that paid is looked up apart from the others', async () => {
  const [paid, free] = await Promise.all([
    createCredential(app, await app.paidTenant()),
    createCredential(app, await app.signUp()),
  ]);
  const pool = openPool(db().options.connectionString!, { max: 4, plansByKey: true });
  onTestFinished(() => pool.end());
  const query = vi.spyOn(pool, 'query');
  const gathered = new GatheredAdmissions(pool);
  const all = () => Promise.all([free, paid, free].map((each) => gathered.lookUp(shownBy(each))));
  const shared = () => {
    const asked = query.mock.calls as unknown as [{ values: [string] }][];
    query.mockClear();
    return asked
      .map(([{ values }]) =>
        JSON.parse(values[0]).map(({ credential }: { credential: string }) => credential),
      )
      .toSorted((one, other) => one.length - other.length);
  };
  await all();
  expect(shared()).toEqual([[free.id, paid.id, free.id]]);
  await all();
  expect(shared()).toEqual([[paid.id], [free.id, free.id]]);
});
