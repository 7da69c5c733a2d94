/** The limit of live rooms, for rooms that joins open. What else a join does is tested with `POST /join`. */
import { beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, sendBytes } from '../../doors/rest/support.ts';
import { createCredential, deviceKey, expectJoined, expectText, join } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';

const app = useService();
let credential: string;
let tenant: Awaited<ReturnType<typeof app.paidTenant>>;

beforeAll(async () => {
  tenant = await app.paidTenant();
  credential = (await createCredential(app, tenant, {})).credential;
  await setLimits(app.service.deps.db, tenant, { rooms: 2 });
});

const enter = (room: string, username = 'ann') => join(app, credential, { room, username });

describe('the limit of live rooms', () => {
  test('concurrent joins open as many rooms as there are places, and others answer 409', async () => {
    expectJoined(await enter('first'));
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((room) => enter(room)));
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([200, 409, 409, 409]);
    const { rows } = await app.service.deps.db.query('select name from rooms where tenant_id = $1', [
      idOf(tenant),
    ]);
    expect(rows).toHaveLength(2);
    expectText(await enter('third'), 409, 'limit reached: at most 2 live rooms');
  });

  test('joins of a room that is open still work', async () => {
    expectJoined(await enter('first', 'bob'));
  });
});

test('a join that waited for its turn reads again whether its user is banned', async () => {
  const { db } = app.service.deps;
  const busy = await app.paidTenant();
  // A join holds an eighth of a place.
  await setLimits(db, busy, { calls_in_flight: 1 });
  const [ann, bob] = [await createCredential(app, busy), await createCredential(app, busy)];
  expectJoined(await join(app, ann.credential));
  const holder = await openHolder(db);
  await holder.query('select from participants where tenant_id = $1 for update', [idOf(busy)]);
  const joiningAnn = Array.from({ length: 8 }, () => join(app, ann.credential));
  const isCounted = async (id: string, points: number) => {
    const found = await db.query('select from rate_limits where key = $1 and points = $2', [
      `join:${id}`,
      points,
    ]);
    return found.rowCount === 1;
  };
  await expect.poll(() => isCounted(ann.id, 9)).toBe(true);
  // In one piece, so that his state is looked up with his credential.
  const body = JSON.stringify({ username: 'bob', key: deviceKey() });
  const head = {
    authorization: `Bearer ${bob.credential}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  const joiningBob = sendBytes(app.url, rawRequest('POST /join HTTP/1.1', head, body));
  await expect.poll(() => isCounted(bob.id, 1)).toBe(true);
  await db.query(
    `insert into bans (tenant_id, id, kind, value, reason, actor, rank)
     values ($1, 'ban_1', 'user', 'bob', '', 'test', 99)`,
    [idOf(busy)],
  );
  await holder.release();
  for (const answer of await Promise.all(joiningAnn)) expectJoined(answer);
  expectText(await joiningBob, 403, 'permission denied: banned');
});
