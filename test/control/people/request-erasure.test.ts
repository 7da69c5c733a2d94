import { beforeEach, describe, expect, test } from 'vitest';
import { skeleton } from '../../../src/access/usernames/skeleton.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { ERASURES_PENDING_MAX } from '../../../src/control/people/erasure.ts';
import { getErasure } from '../../../src/control/people/get-erasure.ts';
import { requestErasure } from '../../../src/control/people/request-erasure.ts';
import { revokeAllPublishing } from '../../../src/control/rooms/participants.sql.ts';
import type { Room } from '../../../src/control/rooms/room.ts';
import { watch } from '../../../src/control/watchdogs/watch.ts';
import { newAdmission } from '../../support/admissions.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf } from '../../support/events.ts';
import { openHolder } from '../../support/holder.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { arm, depsOn, enter, find, makeRoom, passTime } from '../watchdogs/support.ts';
import { columnsWith, eraseAll, insertUsage } from './support.ts';

const database = useDatabase();
const db = () => database.pool;
const deps = () => depsOn(db());

let tenant: TenantId;
let room: Room;

beforeEach(async () => {
  tenant = await makeTenant(db());
  room = await makeRoom(db(), tenant);
});

const request = (name: string) => inTransaction(db(), (tx) => requestErasure(tx, OPERATOR, tenant, name));
const kick = (name: string, options: { hoursAgo?: number } = {}) =>
  db().query(
    `update participants set epoch = epoch + 1, epoch_reason = 'kicked', leave_reason = 'kicked', left_at = now(),
            revoked_at = now() - make_interval(hours => $3) where tenant_id = $1 and username = $2`,
    [tenant, name, options.hoursAgo ?? 0],
  );

describe('a person who is in a room', () => {
  test('is refused, and nothing changes', async () => {
    await enter(db(), tenant, room, 'ann-present');
    const before = await columnsWith(db(), 'ann-present');
    await expect(request('Ann-Present')).rejects.toMatchObject({
      kind: 'participant_present',
      message: 'participant is in a room: end the session first',
    });
    expect(await columnsWith(db(), 'ann-present')).toEqual(before);
    expect((await db().query('select from erasures where tenant_id = $1', [tenant])).rowCount).toBe(0);
  });

  test('is not refused at another tenant', async () => {
    const other = await makeTenant(db());
    await enter(db(), other, await makeRoom(db(), other), 'ann-elsewhere');
    expect(await request('ann-elsewhere')).toMatchObject({ state: 'pending', others: 0n });
    await eraseAll(deps());
    const { rows } = await db().query('select username from participants where tenant_id = $1', [other]);
    expect(rows).toEqual([{ username: 'ann-elsewhere' }]);
  });
});

describe('a person who was expelled', () => {
  beforeEach(() => enter(db(), tenant, room, 'ann'));

  test('is refused while a void token may still be shown', async () => {
    await kick('ann');
    await expect(request('ann')).rejects.toMatchObject({
      kind: 'participant_present',
      message: expect.stringMatching(/^participant was expelled from a room less than 16 minutes ago/),
    });
    await kick('ann', { hoursAgo: 1 });
    expect(await request('ann')).toMatchObject({ state: 'pending', others: 1n });
  });

  test('may be erased at once after the end of the room, which voids all tokens', async () => {
    await kick('ann');
    await db().query(
      `update rooms set state = 'ENDED', end_reason = 'ended', ended_at = now() where tenant_id = $1`,
      [tenant],
    );
    expect(await request('ann')).toMatchObject({ others: 1n });
  });
});

test('a person whose publishing was revoked may be erased after leaving: no token became void', async () => {
  await enter(db(), tenant, room, 'ann');
  await inTransaction(db(), (tx) => revokeAllPublishing(tx, tenant, room.uid, ['ann']));
  await db().query(`update participants set left_at = now(), leave_reason = 'expired' where tenant_id = $1`, [
    tenant,
  ]);
  expect(await request('ann')).toMatchObject({ others: 1n });
});

describe('a person whose last token has expired', () => {
  test('leaves the room with an event, which is erased as well', async () => {
    const thumbprint = 'd'.repeat(43);
    await enterAlone(db(), newAdmission({ tenant, roomUid: room.uid, username: 'ann-lapsed', thumbprint }));
    await enter(db(), tenant, room, 'bob');
    await passTime(db(), tenant, room, 3_600, { onlyUser: 'ann-lapsed' });
    await request('ann-lapsed');
    const { rows } = await db().query('select username from participants where tenant_id = $1', [tenant]);
    expect(rows).toEqual([{ username: 'bob' }]);
    expect((await db().query('select from admissions where tenant_id = $1', [tenant])).rowCount).toBe(1);

    await eraseAll(deps());
    const told = (await eventsOf(db(), tenant)).map(({ type, subject }) => [
      type,
      subject.username,
      subject.leaveReason,
    ]);
    expect(told).toEqual([
      ['participant_entered', '(erased)', null],
      ['participant_entered', 'bob', null],
      ['participant_left', '(erased)', 'expired'],
    ]);
    for (const text of ['ann-lapsed', skeleton('ann-lapsed')])
      expect(await columnsWith(db(), text)).toEqual([]);
  });

  test('leaves the deadlines of watchdogs where they were', async () => {
    await enter(db(), tenant, room, 'ann', 'host');
    const watchdogs = [
      await arm(db(), tenant, room, { condition: 'empty_for', durationMs: 3_600_000 }),
      await arm(db(), tenant, room, { condition: 'host_absent_for', durationMs: 3_600_000 }),
    ];
    await passTime(db(), tenant, room, 1_200);
    const deadlines = async () => {
      await db().query('update watchdogs set check_at = now() where tenant_id = $1', [tenant]);
      await watch(deps(), () => {});
      const found = await Promise.all(watchdogs.map((each) => find(db(), tenant, each)));
      return found.map(({ deadline }) => deadline);
    };
    const before = await deadlines();
    expect(before).toEqual([expect.any(Date), expect.any(Date)]);
    await request('ann');
    expect((await db().query('select from participants where tenant_id = $1', [tenant])).rowCount).toBe(0);
    expect(await deadlines()).toEqual(before);
  });
});

describe('a request', () => {
  test('while the same is pending gets the pending one, and afterwards a new one that finds nothing', async () => {
    await insertUsage(db(), tenant, { participants: ['ann'], count: 3 });
    const first = await request('ann');
    expect(await request('ann')).toEqual(first);
    await eraseAll(deps());
    expect(await getErasure(db(), tenant, first.id)).toMatchObject({ state: 'done', records: 3n });

    const second = await request('ann');
    expect(second.id).not.toBe(first.id);
    await eraseAll(deps());
    expect(await getErasure(db(), tenant, second.id)).toMatchObject({
      state: 'done',
      records: 0n,
      others: 0n,
      finishedAt: expect.any(Date),
    });
  });

  test('that comes many times at once makes one erasure', async () => {
    await enter(db(), tenant, room, 'ann');
    await kick('ann', { hoursAgo: 1 });
    const found = await Promise.all(Array.from({ length: 12 }, () => request('ann')));
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  });

  test('waits for no room but those that the person was in', async () => {
    const other = await makeRoom(db(), tenant);
    await enter(db(), tenant, other, 'bob');
    const holder = await openHolder(db());
    await holder.query('select from rooms where tenant_id = $1 and uid = $2 for update', [tenant, other.uid]);
    expect(await request('ann')).toMatchObject({ others: 0n });
    await holder.release();
  });

  test('holds the name only while it is pending', async () => {
    const { id } = await request('A Name.');
    const stored = async () =>
      (await db().query('select name, state from erasures where id = $1', [id])).rows;
    expect(await stored()).toEqual([{ name: 'A Name.', state: 'pending' }]);
    await eraseAll(deps());
    expect(await stored()).toEqual([{ name: null, state: 'done' }]);
  });

  test.each([
    ['', 'must be 1 to 200 characters'],
    ['a'.repeat(201), 'must be 1 to 200 characters'],
    ['(erased)', 'must be a name: this is what stands for erased ones'],
  ])('for %j is refused', async (name, message) => {
    await expect(request(name)).rejects.toMatchObject({
      kind: 'invalid_request',
      message: `invalid request: participant ${message}`,
    });
  });

  test('counts characters as code points', async () => {
    expect(await request('🎭'.repeat(200))).toMatchObject({ state: 'pending' });
  });

  test(`is refused beyond ${ERASURES_PENDING_MAX} pending ones`, async () => {
    await db().query(
      `insert into erasures (tenant_id, id, name, step) select $1, n, 'name ' || n, 'bans' from generate_series(1, $2) n`,
      [tenant, ERASURES_PENDING_MAX],
    );
    await expect(request('ann')).rejects.toMatchObject({
      kind: 'quota_exceeded',
      message: 'limit reached: at most 1000 pending erasures',
    });
    // Asking for a pending one is no new one.
    expect(await request('name 7')).toMatchObject({ id: '7' });
  });

  test.each(['0', 'er_00000000000000000000000000000000'])(
    'for an erasure that there is not: %s',
    async (id) => {
      await expect(getErasure(db(), tenant, id)).rejects.toMatchObject({ kind: 'not_found' });
    },
  );

  test("for another tenant's erasure finds nothing", async () => {
    const { id } = await request('ann');
    await expect(getErasure(db(), await makeTenant(db()), id)).rejects.toMatchObject({ kind: 'not_found' });
  });
});
