/** The limit of live rooms, for rooms that joins open. What else a join does is tested with `POST /join`. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createCredential, expectJoined, expectText, join } from '../../support/devices.ts';
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
