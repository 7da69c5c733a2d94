import { beforeAll, describe, expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { listRoomsOfName, listRoomsThatBegin } from '../../../src/control/rooms/search-rooms.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const db = () => database.pool;
let tenant: TenantId;

const uid = (at: number) => `rm_${String(at).padStart(32, '0')}`;

/** `at`: hours since the first one. */
async function addRoom(
  of: TenantId,
  at: number,
  name: string,
  incarnation = 1,
  state = 'ENDED',
): Promise<void> {
  await db().query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy, state, created_at, ended_at, end_reason)
     select $1, $2, $3, $4, '{}', $5, t.at, case $5 when 'ENDED' then t.at end, case $5 when 'ENDED' then 'ended' end
       from (select timestamptz '2026-01-01' + $6 * interval '1 hour' as at) t`,
    [of, uid(at), name, incarnation, state, at],
  );
}

beforeAll(async () => {
  tenant = await makeTenant(db());
  for (const [at, name] of ['class-a', 'class', 'talk', 'class-b', 'talk-2', 'Class-c'].entries())
    await addRoom(tenant, at, name);
  await addRoom(tenant, 6, 'class', 2);
  await addRoom(tenant, 7, 'class', 3, 'LIVE');
  await addRoom(await makeTenant(db()), 8, 'class');
});

const ended = { state: 'ENDED', after: undefined, size: 10 } as const;
const uidsOf = ({ rooms }: { rooms: readonly { uid: string }[] }) =>
  rooms.map((room) => Number(room.uid.slice(3)));

describe('rooms of a name', () => {
  test('are all incarnations in the state, the newest first, a page at a time', async () => {
    expect(uidsOf(await listRoomsOfName(db(), tenant, 'class', ended))).toEqual([6, 1]);
    expect(uidsOf(await listRoomsOfName(db(), tenant, 'class', { ...ended, state: 'LIVE' }))).toEqual([7]);
    const first = await listRoomsOfName(db(), tenant, 'class', { ...ended, size: 1 });
    expect([uidsOf(first), first.end]).toEqual([[6], uid(6)]);
    const next = await listRoomsOfName(db(), tenant, 'class', { ...ended, size: 1, after: first.end });
    expect([uidsOf(next), next.end]).toEqual([[1], undefined]);
    expect(uidsOf(await listRoomsOfName(db(), tenant, 'class', { ...ended, after: uid(4) }))).toEqual([]);
  });
});

describe('rooms whose names begin so', () => {
  test('are the newest first, and no others', async () => {
    const found = await listRoomsThatBegin(db(), tenant, 'class', ended);
    expect([uidsOf(found), found.end, found.lookedBackTo]).toEqual([[6, 3, 1, 0], undefined, undefined]);
    expect(uidsOf(await listRoomsThatBegin(db(), tenant, 'cla%', ended))).toEqual([]);
  });

  test('are looked for among so many rooms at a time, and the end says how far', async () => {
    const found: number[] = [];
    const places: unknown[] = [];
    let after: string | undefined;
    do {
      const part = await listRoomsThatBegin(db(), tenant, 'class', { ...ended, after, lookAt: 2 });
      found.push(...uidsOf(part));
      places.push(part.lookedBackTo?.getUTCHours());
      after = part.end;
    } while (after !== undefined);
    expect([found, places]).toEqual([
      [6, 3, 1, 0],
      [5, 3, 1, undefined],
    ]);
  });

  test('fill pages, each of which goes on where the last one ended', async () => {
    const first = await listRoomsThatBegin(db(), tenant, 'class', { ...ended, size: 3 });
    expect([uidsOf(first), first.end, first.lookedBackTo]).toEqual([[6, 3, 1], uid(1), undefined]);
    const next = await listRoomsThatBegin(db(), tenant, 'class', { ...ended, size: 3, after: first.end });
    expect(uidsOf(next)).toEqual([0]);
  });
});
