/** Admissions that share a statement, while some of their rows are locked or change. */
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { openPool, type Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone, enterIn } from '../../../src/control/admission/admission-forms.sql.ts';
import type { NewAdmission } from '../../../src/control/admission/admissions.sql.ts';
import { GatheredAdmissions } from '../../../src/control/admission/gathered-admissions.ts';
import { kickParticipant } from '../../../src/control/moderation/kick-participant.ts';
import { newAdmission } from '../../support/admissions.ts';
import { useControl } from '../../support/grpc.ts';
import { openHolder } from '../../support/holder.ts';
import { useService } from '../../support/service.ts';
import { testOneServer, testStepForms } from '../../support/step-forms.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';
import { deviceOf, eventsSince, isLockAwaited, mint, newStage, type Stage } from '../moderation/support.ts';

const TOGETHER = 32;
const app = useService();
const controlOf = useControl(app);

let stage: Stage;
let tenant: TenantId;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
  tenant = parseTenantId(stage.tenant.id)!;
});

const names = Array.from({ length: TOGETHER }, (_, at) => `user-${at}`);
const admissionOf = (username: string, change: Partial<NewAdmission> = {}) =>
  newAdmission({
    tenant,
    roomUid: stage.roomUid,
    username,
    thumbprint: deviceOf(username),
    capabilities: ['media.subscribe'],
    keyId: stage.tenant.keyId,
    ...change,
  });
const db = () => app.service.deps.db;
const admissions = () => app.service.deps.admissions;
/** Where tables are distributed, each who enters goes alone. */
const enter = (admission: NewAdmission) =>
  isDistributed() ? enterAlone(db(), admission) : admissions().enter(admission);
const renew = (admission: NewAdmission) => admissions().renew(admission);
const enterAll = (change?: Partial<NewAdmission>, who: readonly string[] = names) =>
  Promise.all(who.map((name) => enter(admissionOf(name, change))));
const renewAll = (who: readonly string[] = names) => Promise.all(who.map((name) => renew(admissionOf(name))));
/** Those who get an answer while `user-7` is locked: alone, `user-7` waits for the lock. */
const answered = () => (isDistributed() ? names.filter((name) => name !== 'user-7') : names);
const told = async () =>
  (await eventsSince(app, stage.tenant))
    .filter(({ type }) => type.startsWith('participant'))
    .map(({ type, subject }) => `${type} ${(subject as { username: string }).username}`);
const kick = (tx: Tx, username: string) =>
  kickParticipant(tx, callerOf(tenant), {
    room: 'lobby',
    username,
    actor: undefined,
    reason: '',
  });

testOneServer('thirty-two share one statement each way', async () => {
  const { connectionString } = app.service.deps.db.options;
  const pool = openPool(connectionString!, { max: 4, plansByKey: true });
  const query = vi.spyOn(pool, 'query');
  const gathered = new GatheredAdmissions(pool);
  try {
    const entered = await Promise.all(names.map((name) => gathered.enter(admissionOf(name))));
    const renewed = await Promise.all(names.map((name) => gathered.renew(admissionOf(name))));
    const states = await Promise.all(
      names.map((username) =>
        gathered.findState({
          tenant,
          room: 'lobby',
          username,
          thumbprint: deviceOf(username),
          address: undefined,
        }),
      ),
    );
    expect(entered).toStrictEqual(names.map(() => expect.objectContaining({ epoch: 0, eventful: true })));
    expect(renewed).toStrictEqual(names.map(() => expect.objectContaining({ epoch: 0, eventful: false })));
    expect(states).toStrictEqual(
      names.map(() => expect.objectContaining({ isPresent: true, isAdmitted: true, highestRank: 20 })),
    );
    expect(query).toHaveBeenCalledTimes(3);
  } finally {
    await pool.end();
  }
  expect((await told()).sort()).toStrictEqual(names.map((name) => `participant_entered ${name}`).sort());
});

testOneServer('states of tenants that never paid share no statement with those of others', async () => {
  const shared: string[][] = [];
  const pool = {
    query: async ({ values }: { readonly values: readonly [string] }) => {
      const rows: { username: string }[] = JSON.parse(values[0]);
      shared.push(rows.map(({ username }) => username));
      return { rows };
    },
  };
  const gathered = new GatheredAdmissions(pool as never);
  const stateOf = (username: string) =>
    gathered.findState(
      { tenant, room: 'lobby', username, thumbprint: deviceOf(username), address: undefined },
      username !== 'free',
    );
  await Promise.all(['free', 'paid', 'free', 'paid'].map(stateOf));
  expect(shared).toEqual([
    ['free', 'free'],
    ['paid', 'paid'],
  ]);
});

testStepForms(
  'users of one tenant share their reading and their renewal, and no statement with another tenant',
  async () => {
    await enterAll();
    const pool = openPool(app.service.deps.db.options.connectionString!, { max: 4 });
    const query = vi.spyOn(pool, 'query');
    const connect = vi.spyOn(pool, 'connect');
    const gathered = new GatheredAdmissions(pool);
    const stranger = { tenant: await makeTenant(db()), username: 'stranger' };
    const stateOf = (entrant: { readonly tenant: TenantId; readonly username: string }) =>
      gathered.findState({
        ...entrant,
        room: 'lobby',
        thumbprint: deviceOf(entrant.username),
        address: undefined,
      });
    try {
      const all = [stranger, ...names.slice(0, 10).map((username) => ({ tenant, username }))];
      const states = await Promise.all(all.map(stateOf));
      expect(states).toStrictEqual(
        all.map(({ username }) =>
          expect.objectContaining({ isAdmitted: username !== 'stranger', exempt: false }),
        ),
      );
      expect(query).toHaveBeenCalledTimes(2);
      connect.mockClear();
      const renewed = await Promise.all(
        all.map((each) => gathered.renew(admissionOf(each.username, { tenant: each.tenant }))),
      );
      expect(renewed).toStrictEqual([
        undefined,
        ...all.slice(1).map(() => expect.objectContaining({ epoch: 0, eventful: false })),
      ]);
      expect(connect).toHaveBeenCalledTimes(2);
    } finally {
      await pool.end();
    }
  },
);

testOneServer(
  'newcomers share a statement, and one who was there before, or whose room is locked, enters otherwise',
  async () => {
    await enterAll({}, ['user-3']);
    await inTransaction(db(), (tx) => kick(tx, 'user-3'));
    const pool = openPool(db().options.connectionString!, { max: 4, plansByKey: true });
    onTestFinished(() => pool.end());
    const query = vi.spyOn(pool, 'query');
    const gathered = new GatheredAdmissions(pool);
    const enterNew = (name: string) => gathered.enter(admissionOf(name), { isNew: true });
    const entered = await Promise.all(names.map((name) => enterNew(name)));
    const asked = query.mock.calls as unknown as [{ name: string }][];
    expect(asked.map(([{ name }]) => name)).toEqual(['insert-newcomers', 'upsert-free-admissions']);
    expect(entered).toStrictEqual(
      names.map((name) => expect.objectContaining({ epoch: name === 'user-3' ? 1 : 0, eventful: true })),
    );
    const entries = (await told()).filter((each) => each.startsWith('participant_entered'));
    expect(entries.toSorted()).toEqual(
      [...names, 'user-3'].map((name) => `participant_entered ${name}`).toSorted(),
    );

    const { kid: _, ...renewed } = (await renew(admissionOf('user-5')))!;
    expect(renewed).toMatchObject({ eventful: false });
    const holder = await openHolder(db());
    await holder.query('select from rooms where tenant_id = $1 for update', [tenant]);
    expect(await enterNew('late')).toBeUndefined();
    await holder.release();
    await db().query(
      "update rooms set state = 'ENDED', ended_at = now(), end_reason = 'ended' where tenant_id = $1",
      [tenant],
    );
    expect(await enterNew('later')).toBeUndefined();
  },
);

testOneServer('a newcomer is shown with the device, in the event too', async () => {
  await enterAll({ customer: 'acme' }, ['old']);
  await admissions().enter(admissionOf('new', { customer: 'acme' }), { isNew: true });
  const [old, fresh] = (await eventsSince(app, stage.tenant))
    .filter(({ type }) => type === 'participant_entered')
    .map(({ subject }) => subject as { devices: Record<string, unknown>[] });
  const shape = ({ devices, ...rest }: { devices: Record<string, unknown>[] }) => [
    Object.keys(rest).sort(),
    devices.map((device) => ({ ...device, expiresAt: typeof device.expiresAt, thumbprint: '' })),
  ];
  expect(shape(fresh!)).toEqual(shape(old!));
});

testOneServer('a device that is locked delays no other for long', async () => {
  await enterAll();
  const holder = await openHolder(db());
  const locked = "select from admissions where tenant_id = $1 and username = 'user-7' for update";
  await holder.query(locked, [tenant]);
  const renewed = await renewAll();
  expect(renewed.map(Boolean)).toEqual(names.map((name) => name !== 'user-7'));
  await holder.release();
  expect(await renew(admissionOf('user-7'))).toBeDefined();
});

test('each gets the answer of its own row', async () => {
  const hosts = names.filter((_, at) => at % 2 === 0);
  await Promise.all(hosts.map((name) => enter(admissionOf(name, { role: 'host', rank: 80 }))));
  await inTransaction(db(), (tx) => kick(tx, 'user-2'));
  const joined = await enterAll({ mayLower: false, thumbprint: deviceOf('kiosk') });
  // Those with a host under their name are refused; the host who was kicked is no longer there.
  const expected = names.map((name) => {
    if (name === 'user-2') return expect.objectContaining({ epoch: 1 });
    return hosts.includes(name) ? 'username_taken' : expect.objectContaining({ epoch: 0 });
  });
  expect(joined).toStrictEqual(expected);
});

test('each renews for its own time, in its own room, and none for less', async () => {
  const { room: other } = await stage.control.call(RoomService.method.createRoom, { room: 'other' });
  const of = (username: string, lifetimeSeconds: number, roomUid = stage.roomUid) =>
    admissionOf(username, { lifetimeSeconds, roomUid });
  const entering = [of('ann', 600), of('bob', 900), of('ann', 600, other!.uid)];
  for (const each of entering) await enter(each);
  const renewed = await Promise.all([of('ann', 800), of('bob', 300)].map(renew));
  expect(renewed).not.toContain(undefined);
  const leftIn = async (table: string) => {
    const { rows } = await db().query(
      `select room_uid = $2 as "isLobby", username, ceil(extract(epoch from expires_at - now()) / 100)::integer as left
         from ${table} where tenant_id = $1 order by expires_at`,
      [tenant, stage.roomUid],
    );
    return rows;
  };
  const users = await leftIn('participants');
  expect(users).toStrictEqual([
    { isLobby: false, username: 'ann', left: 6 },
    { isLobby: true, username: 'ann', left: 8 },
    { isLobby: true, username: 'bob', left: 9 },
  ]);
  // The devices keep their places for as long.
  expect(await leftIn('admissions')).toStrictEqual(users);
});

test('a participant who is being kicked is left out, and the others renew meanwhile', async () => {
  await enterAll();
  const renewed = await inTransaction(db(), async (tx) => {
    await kick(tx, 'user-7');
    return renewAll();
  });
  expect(renewed).toStrictEqual(
    names.map((name) => (name === 'user-7' ? undefined : expect.objectContaining({ epoch: 0 }))),
  );
  expect((await renewAll())[7]).toBeUndefined();
});

test('a participant who is being kicked is left out, and the others enter meanwhile', async () => {
  await enter(admissionOf('user-7'));
  const { room: other } = await stage.control.call(RoomService.method.createRoom, { room: 'other' });
  const entered = await inTransaction(db(), async (tx) => {
    // Locks the room and the participant.
    await kick(tx, 'user-7');
    return Promise.all(
      answered().map((name) => enter(admissionOf(name, name === 'user-7' ? {} : { roomUid: other!.uid }))),
    );
  });
  expect(entered).toStrictEqual(
    answered().map((name) => (name === 'user-7' ? undefined : expect.objectContaining({ epoch: 0 }))),
  );
});

test('a locked participant of an open room is left out, without an event', async () => {
  await enter(admissionOf('user-7'));
  const entered = await inTransaction(db(), async (tx) => {
    await tx.query(`select from participants where tenant_id = $1 and username = 'user-7' for update`, [
      tenant,
    ]);
    return enterAll({}, answered());
  });
  expect(entered.map((each) => each !== undefined)).toStrictEqual(
    answered().map((name) => name !== 'user-7'),
  );
  expect((await told()).filter((each) => each.endsWith('user-7'))).toStrictEqual([
    'participant_entered user-7',
  ]);
});

test('nobody enters a room that has ended, and the others of the statement enter theirs', async () => {
  const { room: other } = await stage.control.call(RoomService.method.createRoom, { room: 'other' });
  await stage.control.call(RoomService.method.endRoom, { room: 'lobby' });
  const entered = await Promise.all(
    names.map((name, at) => enter(admissionOf(name, at % 2 ? { roomUid: other!.uid } : {}))),
  );
  const refused = isDistributed() ? 'room_ended' : undefined;
  expect(entered.map((each) => each !== refused)).toStrictEqual(names.map((_, at) => at % 2 === 1));
});

test('mints that wait for a kick of all of them are refused', async () => {
  await Promise.all(names.map((name) => mint(stage, name)));
  await stage.control.call(RoomService.method.updateRoomPolicy, {
    room: 'lobby',
    policy: { locked: true },
    updateMask: { paths: ['locked'] },
  });
  const { minting } = await inTransaction(db(), async (tx) => {
    for (const name of names) await kick(tx, name);
    const minting = Promise.allSettled(names.map((name) => mint(stage, name)));
    await expect.poll(() => isLockAwaited(app)).toBe(true);
    return { minting };
  });
  const refused = { status: 'rejected', reason: { reason: 'ROOM_LOCKED' } };
  expect(await minting).toMatchObject(names.map(() => refused));
});

test('a user who enters twice in the same microsecond enters once', async () => {
  // Both statements of one transaction have the same `now()`.
  const [first, second] = await inTransaction(db(), async (tx) => [
    await enterIn(tx, admissionOf('ann')),
    await enterIn(tx, admissionOf('ann', { thumbprint: deviceOf('kiosk') })),
  ]);
  expect(first).toMatchObject({ eventful: true });
  expect(second).toMatchObject({ eventful: false });
  expect(await told()).toStrictEqual(['participant_entered ann']);
});
