/** Statements about participants change and find those of their tenant, room and name, and no others. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import type { NewAdmission } from '../../../src/control/admission/admissions.sql.ts';
import { openFirstRoom } from '../../../src/control/admission/open-first-room.sql.ts';
import { expel, findFormerRank } from '../../../src/control/rooms/participants.sql.ts';
import { removeDevices } from '../../../src/control/rooms/remove-device.sql.ts';
import { newAdmission } from '../../support/admissions.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

interface Place {
  readonly tenant: TenantId;
  readonly roomUid: string;
}

let lobby: Place;
let attic: Place;
let foreign: Place;

async function openRoom(tenant: TenantId, name: string): Promise<Place> {
  return { tenant, roomUid: (await openFirstRoom(database.pool, tenant, name))!.uid };
}

beforeEach(async () => {
  const [own, other] = [await makeTenant(database.pool), await makeTenant(database.pool)];
  lobby = await openRoom(own, 'lobby');
  attic = await openRoom(own, 'attic');
  foreign = await openRoom(other, 'lobby');
});

const enter = (place: Place, username: string, change: Partial<NewAdmission> = {}) =>
  enterAlone(database.pool, newAdmission({ ...place, username, thumbprint: 'phone', ...change }));
const expelFrom = ({ tenant, roomUid }: Place, names?: readonly string[]) =>
  inTransaction(database.pool, (tx) => expel(tx, tenant, roomUid, 'kicked', names));

/** Epoch, and whether the participant has left, by name. */
async function stateOf({ tenant, roomUid }: Place): Promise<Record<string, string>> {
  const { rows } = await database.pool.query<{ name: string; state: string }>(
    `select username as name, epoch || case when left_at is null then '' else ' left' end as state
       from participants where tenant_id = $1 and room_uid = $2`,
    [tenant, roomUid],
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

describe('to expel users', () => {
  test('touches neither other users nor other rooms and tenants, present or not', async () => {
    for (const place of [lobby, attic, foreign]) {
      for (const name of ['ann', 'bob', 'cem']) await enter(place, name);
      await expelFrom(place, ['cem']);
    }
    await expelFrom(lobby, ['ann', 'cem']);
    expect(await stateOf(lobby)).toStrictEqual({ ann: '1 left', bob: '0', cem: '2 left' });
    const untouched = { ann: '0', bob: '0', cem: '1 left' };
    expect([await stateOf(attic), await stateOf(foreign)]).toStrictEqual([untouched, untouched]);
  });

  test('says that a user whose token has expired left when it did', async () => {
    await enter(lobby, 'ann');
    await enter(lobby, 'bob');
    await database.pool.query(
      `update participants set expires_at = '2026-01-01T00:00:00Z' where tenant_id = $1 and username = 'ann'`,
      [lobby.tenant],
    );
    const { rows } = await database.pool.query<{ now: Date }>('select now() as now');
    await expelFrom(lobby);
    const { rows: left } = await database.pool.query(
      `select username, left_at = '2026-01-01T00:00:00Z' as "isThen", left_at between $2 and now() as "isNow",
              leave_reason as reason from participants where tenant_id = $1 order by username`,
      [lobby.tenant, rows[0]!.now],
    );
    expect(left).toStrictEqual([
      { username: 'ann', isThen: true, isNow: false, reason: 'expired' },
      { username: 'bob', isThen: false, isNow: true, reason: 'kicked' },
    ]);
  });
});

test('the former rank is that of the name, in the newest room of the name, of the tenant', async () => {
  await enter(lobby, 'ann', { rank: 40 });
  await enter(lobby, 'bob', { rank: 60 });
  await enter(attic, 'ann', { rank: 90 });
  await enter(foreign, 'ann', { rank: 95 });
  const rankOf = (name: string) => findFormerRank(database.pool, lobby.tenant, 'lobby', name);
  expect([await rankOf('ann'), await rankOf('bob'), await rankOf('cem')]).toStrictEqual([40, 60, undefined]);
});

test('without a device, users stay as long as their other devices of that room do', async () => {
  for (const name of ['ann', 'bob']) {
    await enter(lobby, name, { lifetimeSeconds: 300 });
    await enter(lobby, name, { lifetimeSeconds: 900, thumbprint: 'kiosk' });
    await enter(attic, name, { lifetimeSeconds: 600 });
  }
  const { tenant, roomUid } = lobby;
  await inTransaction(database.pool, (tx) =>
    removeDevices(tx, tenant, roomUid, { thumbprint: 'kiosk' }, ['ann']),
  );
  const { rows } = await database.pool.query(
    `select room_uid = $2 as "isLobby", username, ceil(extract(epoch from expires_at - now()) / 100)::integer as left
       from participants where tenant_id = $1 order by expires_at, username`,
    [tenant, roomUid],
  );
  expect(rows).toStrictEqual([
    { isLobby: true, username: 'ann', left: 3 },
    { isLobby: false, username: 'ann', left: 6 },
    { isLobby: false, username: 'bob', left: 6 },
    { isLobby: true, username: 'bob', left: 9 },
  ]);
});
