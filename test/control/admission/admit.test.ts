/** Entries and renewals while the room changes. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AuthenticatedCaller } from '../../../src/access/keys/authenticate.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone, enterIn, renewAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import type { NewAdmission } from '../../../src/control/admission/admissions.sql.ts';
import { banSubject } from '../../../src/control/moderation/ban-subject.ts';
import { kickParticipant } from '../../../src/control/moderation/kick-participant.ts';
import { tellExpiredParticipants } from '../../../src/control/rooms/tell-expired-participants.ts';
import { lapse, toldOf } from '../../doors/grpc/mint.ts';
import { newAdmission } from '../../support/admissions.ts';
import {
  createCredential,
  deviceKey,
  expectJoined,
  expectText,
  join,
  thumbprint,
} from '../../support/devices.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf } from '../../support/tenants.ts';
import {
  deviceOf,
  eventsSince,
  isLockAwaited,
  mint,
  newStage,
  read,
  type Stage,
} from '../moderation/support.ts';

const app = useService();
const controlOf = useControl(app);

let stage: Stage;
let tenant: TenantId;
let caller: AuthenticatedCaller;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
  tenant = parseTenantId(stage.tenant.id)!;
  caller = callerOf(tenant);
});

const admissionOf = (username: string) =>
  newAdmission({
    tenant,
    roomUid: stage.roomUid,
    username,
    thumbprint: deviceOf(username),
    keyId: stage.tenant.keyId,
  });

const setPolicy = (policy: { locked?: boolean; maxParticipants?: number }) =>
  stage.control.call(RoomService.method.updateRoomPolicy, {
    room: 'lobby',
    policy,
    updateMask: { paths: Object.keys(policy).map((name) => (name === 'locked' ? name : 'max_participants')) },
  });

/** Run `work` in a transaction, and commit once `meanwhile` waits for it. */
async function during<T>(work: (tx: Tx) => Promise<unknown>, meanwhile: () => Promise<T>) {
  const { db } = app.service.deps;
  const { outcome } = await inTransaction(db, async (tx) => {
    await work(tx);
    const outcome = Promise.allSettled([meanwhile()]);
    await expect.poll(isWaiting).toBe(true);
    return { outcome };
  });
  return (await outcome)[0];
}

const isWaiting = () => isLockAwaited(app);

/** The user enters and is kicked. */
async function leave(username: string): Promise<void> {
  await mint(stage, username);
  await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username });
}

const presentNames = async () => {
  const { participants } = await stage.control.call(ParticipantService.method.listParticipants, {
    room: 'lobby',
  });
  return participants.map((each) => each.username);
};

describe('a locked room', () => {
  test('refuses a new device with the name of a present user', async () => {
    const { credential } = await createCredential(app, stage.tenant);
    const [known, other] = [deviceKey(), deviceKey()];
    const joinWith = (key: typeof known, username = 'ann') =>
      join(app, credential, { username, room: 'lobby', key });
    expectJoined(await joinWith(known));
    await setPolicy({ locked: true });
    expectText(await joinWith(other), 409, 'room is locked');
    expectText(await joinWith(known, 'bob'), 409, 'room is locked');
    expectJoined(await joinWith(known));

    // A back end vouches for the user it mints for.
    await mint(stage, 'ann', { device: await thumbprint(other) });
    expectJoined(await joinWith(other));
    await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
    expectText(await joinWith(known), 409, 'room is locked');
    expect(await failureOf(mint(stage, 'ann'))).toMatchObject({ reason: 'ROOM_LOCKED' });
  });

  test('refuses a device whose own token expired, even if the user is present', async () => {
    const { credential } = await createCredential(app, stage.tenant);
    const key = deviceKey();
    expectJoined(await join(app, credential, { room: 'lobby', key }));
    await lapse(app, stage.tenant);
    await mint(stage, 'ann');
    await setPolicy({ locked: true });
    expectText(await join(app, credential, { room: 'lobby', key }), 409, 'room is locked');
  });
});

describe('a renewal that waits for', () => {
  const kick = (tx: Tx) =>
    kickParticipant(tx, caller, { room: 'lobby', username: 'eve', actor: undefined, reason: '' });

  test.each(['lobby', undefined])('a ban is refused (room %s)', async (room) => {
    await mint(stage, 'eve');
    const subject = { kind: 'user', value: 'eve' } as const;
    const renewed = await during(
      (tx) => banSubject(tx, caller, { room, subject, ttlMs: null, reason: '', actor: undefined }),
      () => mint(stage, 'eve'),
    );
    expect(renewed).toMatchObject({ status: 'rejected', reason: { reason: 'BANNED' } });
    expect(await presentNames()).toStrictEqual([]);
  });

  test('a kick out of a locked room is refused', async () => {
    await mint(stage, 'eve');
    await setPolicy({ locked: true });
    const renewed = await during(kick, () => mint(stage, 'eve'));
    expect(renewed).toMatchObject({ status: 'rejected', reason: { reason: 'ROOM_LOCKED' } });
    expect(await presentNames()).toStrictEqual([]);
  });

  test('a kick, while another user takes the last place, is refused', async () => {
    await mint(stage, 'eve');
    await setPolicy({ maxParticipants: 1 });
    const { db } = app.service.deps;
    const renewed = await during(
      async (tx) => {
        await kick(tx);
        await enterIn(tx, admissionOf('bob'));
      },
      () => mint(stage, 'eve'),
    );
    expect(renewed).toMatchObject({ status: 'rejected', reason: { reason: 'ROOM_FULL' } });
    expect(await presentNames()).toStrictEqual(['bob']);
    expect((await db.query('select 1 from admissions where tenant_id = $1', [tenant])).rowCount).toBe(1);
  });

  test('a kick out of an open room is a new entry with the new epoch', async () => {
    await mint(stage, 'eve');
    expect((await during(kick, () => mint(stage, 'eve'))).status).toBe('fulfilled');
    expect(await toldOf(app, stage.tenant)).toStrictEqual(['entered eve', 'left eve', 'entered eve']);
  });
});

describe('a user whose tokens have all expired', () => {
  const enterTime = async () => {
    const { rows } = await app.service.deps.db.query<{ at: Date }>(
      'select entered_at as at from participants where tenant_id = $1',
      [tenant],
    );
    return rows[0]!.at.getTime();
  };

  test('enters again, after a participant_left even without a sweep', async () => {
    const { db } = app.service.deps;
    await mint(stage, 'ann');
    const before = await enterTime();
    // In one transaction, so that no sweep intervenes.
    await inTransaction(db, async (tx) => {
      await tx.query(
        `update participants set expires_at = now() - interval '1 second' where tenant_id = $1`,
        [tenant],
      );
      await tx.query(`update admissions set expires_at = now() - interval '1 second' where tenant_id = $1`, [
        tenant,
      ]);
      await enterIn(tx, admissionOf('ann'));
    });
    expect(await enterTime()).toBeGreaterThan(before);
    await tellExpiredParticipants(app.service.deps);
    expect(await toldOf(app, stage.tenant)).toStrictEqual(['entered ann', 'left ann', 'entered ann']);
    const [left, entered] = (await eventsSince(app, stage.tenant)).slice(-2);
    expect(left).toMatchObject({ subject: { leaveReason: 'expired', devices: [] } });
    expect((left!.subject as { leftAt: string }).leftAt).not.toBeNull();
    expect(entered).toMatchObject({ subject: { leaveReason: null, leftAt: null, devices: [{}] } });
  });

  test('gets one participant_left if the sweep and the return coincide', async () => {
    for (let round = 0; round < 5; round += 1) {
      await mint(stage, 'ann');
      await lapse(app, stage.tenant);
      await Promise.all([tellExpiredParticipants(app.service.deps), mint(stage, 'ann')]);
    }
    const events = await toldOf(app, stage.tenant);
    expect(events).toStrictEqual(events.map((_, at) => (at % 2 ? 'left ann' : 'entered ann')));
    expect(events).toHaveLength(11);
  });
});

describe('a second token of a device', () => {
  const validUntil = async () => {
    const { participant } = await stage.control.call(ParticipantService.method.getParticipant, {
      room: 'lobby',
      username: 'ann',
    });
    return { user: participant!.expireTime, devices: participant!.devices.map((each) => each.expireTime) };
  };

  test.each([
    ['renews', renewAlone, {}],
    ['changes the role', enterAlone, { role: 'host', rank: 80 } as const],
  ])(
    'a shorter one that %s hides neither the device nor the user while the first is valid',
    async (_, readmit, change) => {
      const { db } = app.service.deps;
      await enterAlone(db, admissionOf('ann'));
      const first = await validUntil();
      expect(first.devices).toStrictEqual([first.user]);
      expect(await readmit(db, { ...admissionOf('ann'), ...change, lifetimeSeconds: 60 })).toBeDefined();
      expect(await validUntil()).toStrictEqual(first);
    },
  );

  test.each([
    ['renews', renewAlone, {}],
    ['changes the role', enterAlone, { role: 'host', rank: 80 } as const],
  ])('a longer one that %s keeps the device and the user longer', async (_, readmit, change) => {
    const { db } = app.service.deps;
    await enterAlone(db, { ...admissionOf('ann'), lifetimeSeconds: 60 });
    const first = await validUntil();
    expect(await readmit(db, { ...admissionOf('ann'), ...change })).toBeDefined();
    const second = await validUntil();
    expect(second.devices).toStrictEqual([second.user]);
    expect(second.user!.seconds - first.user!.seconds).toBeGreaterThanOrEqual(540n);
  });
});

test('of two concurrent returns under one name, the last event matches the row', async () => {
  await mint(stage, 'ann');
  await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
  const minted = await during(
    (tx) => enterIn(tx, { ...admissionOf('ann'), role: 'host', rank: 80 }),
    () => mint(stage, 'ann'),
  );
  expect(minted.status).toBe('fulfilled');
  const events = await eventsSince(app, stage.tenant);
  expect(events.slice(-2)).toMatchObject([{ subject: { role: 'host' } }, { subject: { role: 'audience' } }]);
});

describe('a join that waits for a mint under the same name', () => {
  const joining = (): NewAdmission => ({
    ...admissionOf('ann'),
    thumbprint: deviceOf('kiosk'),
    mayLower: false,
  });
  const host = (tx: Tx) => enterIn(tx, { ...admissionOf('ann'), role: 'host', rank: 80 });
  const devices = async () => {
    const { rows } = await app.service.deps.db.query<{ device: string }>(
      'select device from admissions where tenant_id = $1',
      [tenant],
    );
    return rows.map((each) => each.device);
  };

  test.each([
    ['the name is new', async () => {}],
    ['the user is present', async () => void (await mint(stage, 'ann'))],
    ['the user has left', () => leave('ann')],
  ])('does not get in if the mint has a higher rank (%s)', async (_, before) => {
    await before();
    const { db } = app.service.deps;
    const joined = await during(host, () => enterAlone(db, joining()));
    expect(joined).toMatchObject({ value: 'username_taken' });
    expect(await devices()).toStrictEqual([deviceOf('ann')]);
  });

  test('gets in if the mint has an equal rank', async () => {
    const { db } = app.service.deps;
    const joined = await during(
      (tx) => enterIn(tx, admissionOf('ann')),
      () => enterAlone(db, joining()),
    );
    expect(joined).toMatchObject({ value: { epoch: 0 } });
    expect(new Set(await devices())).toStrictEqual(new Set([deviceOf('ann'), deviceOf('kiosk')]));
  });
});

test('an entry does not wait for a locked watchdog', async () => {
  const { db } = app.service.deps;
  await db.query(
    `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, check_at)
     values ($1, 'wd_1', $2, 'alone_for', 86400000, 'notify', null)`,
    [tenant, stage.roomUid],
  );
  await inTransaction(db, async (tx) => {
    await tx.query('select from watchdogs where tenant_id = $1 for update', [tenant]);
    await mint(stage, 'ann');
    expect(await presentNames()).toStrictEqual(['ann']);
  });
  const isAwake = async () => {
    const { rows } = await db.query('select 1 from watchdogs where tenant_id = $1 and check_at is not null', [
      tenant,
    ]);
    return rows.length === 1;
  };
  await expect.poll(isAwake).toBe(true);
});

test('an admission that PostgreSQL aborts to resolve a deadlock is repeated', async () => {
  await mint(stage, 'ann');
  await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
  const { db } = app.service.deps;
  // Against the usual order: the participant, then the room. PostgreSQL aborts the first to wait.
  const minted = await inTransaction(db, async (tx) => {
    await tx.query('select from participants where tenant_id = $1 for update', [tenant]);
    const coming = mint(stage, 'ann');
    await expect.poll(isWaiting).toBe(true);
    await tx.query('select from rooms where tenant_id = $1 and uid = $2 for update', [tenant, stage.roomUid]);
    return { coming };
  });
  expect(await read(app, await minted.coming)).toMatchObject({ ep: 1 });
});

describe('an entry', () => {
  const db = () => app.service.deps.db;
  const devicesOfEntries = async () =>
    (await eventsSince(app, stage.tenant))
      .filter(({ type }) => type === 'participant_entered')
      .map(({ subject }) => (subject as { devices: unknown[] }).devices);

  test('makes the room due when its token expires', async () => {
    await enterAlone(db(), admissionOf('ann'));
    const { rows } = await db().query(
      `select due_at = expires_at as is from room_lapses join participants using (tenant_id, room_uid)
        where tenant_id = $1`,
      [tenant],
    );
    expect(rows).toStrictEqual([{ is: true }]);
  });

  test('at the very moment when the last token expires is a second entry', async () => {
    await inTransaction(db(), async (tx) => {
      await enterIn(tx, admissionOf('ann'));
      for (const table of ['participants', 'admissions']) {
        await tx.query(`update ${table} set expires_at = (select now()) where tenant_id = $1`, [tenant]);
      }
      expect(await enterIn(tx, admissionOf('ann'))).toMatchObject({ eventful: true });
    });
    const told = (await eventsSince(app, stage.tenant)).map(({ type }) => type);
    expect(told.filter((type) => type.startsWith('participant'))).toStrictEqual([
      'participant_entered',
      'participant_left',
      'participant_entered',
    ]);
  });

  test('is refused if several devices have a higher rank', async () => {
    for (const device of ['one', 'two']) {
      await enterAlone(db(), { ...admissionOf('ann'), rank: 80, thumbprint: deviceOf(device) });
    }
    const lower = { ...admissionOf('ann'), thumbprint: deviceOf('three'), mayLower: false };
    expect(await enterAlone(db(), lower)).toBe('username_taken');
  });

  test('tells its own device, not those of other users and rooms', async () => {
    const { room: other } = await stage.control.call(RoomService.method.createRoom, { room: 'other' });
    const shared = { thumbprint: deviceOf('kiosk') };
    await enterAlone(db(), { ...admissionOf('bob'), ...shared });
    await enterAlone(db(), { ...admissionOf('ann'), ...shared, roomUid: other!.uid });
    await enterAlone(db(), { ...admissionOf('ann'), ...shared });
    const kiosk = expect.objectContaining({ thumbprint: deviceOf('kiosk') });
    expect(await devicesOfEntries()).toStrictEqual([[kiosk], [kiosk], [kiosk]]);
  });
});

describe('a user with as many devices as there may be', () => {
  /** `lifetime`: of the tokens of all but the first. */
  const addDevices = async (username: string, lifetime: string, count = 999) => {
    await mint(stage, username);
    await app.service.deps.db.query({
      text: `insert into admissions (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
             select $1, $2, $3, 'device' || i, 'host', 80, '{}', 'key', now() + $4::interval from generate_series(1, $5::integer) i`,
      values: [tenant, stage.roomUid, username, lifetime, count],
    });
  };
  const device = deviceOf('another');

  test('gets no further one, and those that are there go on', async () => {
    await addDevices('ann', '10 minutes');
    const refused = await failureOf(mint(stage, 'ann', { device }));
    expect(refused).toMatchObject({
      reason: 'QUOTA_EXCEEDED',
      message: 'limit reached: at most 1000 devices of one user in a room',
    });
    await mint(stage, 'ann');
  });

  test('gets one from a back end, when joins have taken their half', async () => {
    await addDevices('ann', '10 minutes', 499);
    await app.service.deps.db.query('update admissions set rank = 20 where tenant_id = $1', [tenant]);
    const { credential } = await createCredential(app, stage.tenant);
    const refused = await join(app, credential, { room: 'lobby', username: 'ann', key: deviceKey() });
    expectText(refused, 409, 'limit reached: at most 500 devices of one user in a room');
    await mint(stage, 'ann', { device });
  });

  test('gets the place of those whose tokens have expired', async () => {
    await addDevices('ann', '-1 second');
    await mint(stage, 'ann', { device });
    const text = 'select from admissions where tenant_id = $1';
    expect((await app.service.deps.db.query({ text, values: [tenant] })).rowCount).toBe(2);
  });
});
