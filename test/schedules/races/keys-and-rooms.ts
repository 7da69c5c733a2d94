/** The last keys of a tenant, mutations that take effect once, places under a limit, and rooms that end. */
import { randomBytes } from 'node:crypto';
import { createKey } from '../../../src/access/keys/create-key.ts';
import { revokeKey } from '../../../src/access/keys/revoke-key.ts';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { once } from '../../../src/base/idempotency/once.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { limitHolderOf } from '../../../src/base/tenants/limited-caller.ts';
import { countUpTo, takePlace } from '../../../src/base/tenants/places.sql.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { endRoomByName } from '../../../src/control/rooms/end-room.ts';
import { ROOMS_LIMIT, type Room } from '../../../src/control/rooms/room.ts';
import { makeRoom } from '../../control/watchdogs/support.ts';
import { newAdmission } from '../../support/admissions.ts';
import { callerOf, makeKey, makeTenant } from '../../support/tenants.ts';
import { type Part, staged } from '../support/scenario.ts';
import { wasDone } from './deps.ts';

interface World {
  readonly tenant: TenantId;
  readonly keys: readonly string[];
}

async function prepareKeys(db: Pool): Promise<World> {
  const tenant = await makeTenant(db, { status: 'active' });
  const keys = [await makeKey(db, tenant, 'relay'), await makeKey(db, tenant, 'relay')];
  return { tenant, keys: keys.map(({ id }) => id) };
}

const revoke = (at: number) => (world: World, db: Pool) => {
  const caller = { ...callerOf(world.tenant), keyId: undefined };
  const revoked = inTransaction(db, (tx) =>
    revokeKey(tx, caller, world.keys[at]!, { stopServiceConfirmed: false }),
  );
  return wasDone(revoked, 'would_stop_service');
};

const lastKeys = staged<World>({
  name: 'the last two keys of a kind are revoked',
  prepare: prepareKeys,
  actors: [revoke(0), revoke(1)],
  check: async (_db, _world, revoked) =>
    revoked.filter((each) => each === true).length === 1 ? undefined : 'the tenant has no relay key',
});

interface OrderedWorld extends World {
  /** What was done, in order. */
  readonly done: string[];
}

/** The first key was checked before, and is revoked by the time at which it makes another one. */
const revokedCaller = staged<OrderedWorld>({
  name: 'a key makes another one while it is revoked',
  prepare: async (db) => ({ ...(await prepareKeys(db)), done: [] }),
  actors: [
    async (world, db) => {
      await revoke(0)(world, db);
      world.done.push('revoked');
    },
    async (world, db) => {
      const caller = { ...callerOf(world.tenant), keyId: world.keys[0] };
      const created = inTransaction(db, (tx) =>
        createKey(tx, { keyPrefix: 'svc' }, caller, { name: 'another', kind: 'backend' }),
      );
      if (await wasDone(created, 'invalid_api_key')) world.done.push('created');
    },
  ],
  check: async (_db, { done }) =>
    done.join() === 'revoked,created' ? 'a key that is revoked has made another one' : undefined,
});

const box = new SecretBox(randomBytes(32));

/** A call with a key, whose effect is one more room. */
const callOnce = async ({ tenant }: World, db: Pool): Promise<string> => {
  const mutation = { tenant, key: 'key', method: 'Make', rights: '', request: Buffer.of() };
  const answer = await once({ db, box }, mutation, async (tx) => {
    await tx.query('insert into tenant_places (tenant_id, limit_name, max, free) values ($1, $2, 0, 0)', [
      tenant,
      randomBytes(8).toString('hex'),
    ]);
    return Buffer.from('made');
  });
  return Buffer.from(answer).toString();
};

const repeatedCall = staged<World>({
  name: 'a call that is repeated while it is under way',
  prepare: async (db) => ({ tenant: await makeTenant(db, { status: 'active' }), keys: [] }),
  actors: [callOnce, callOnce],
  check: async (db, { tenant }, answers) => {
    const { rowCount } = await db.query('select from tenant_places where tenant_id = $1', [tenant]);
    if (answers.some((answer) => answer !== 'made')) return 'a call has another answer';
    return rowCount === 1 ? undefined : `it took effect ${rowCount} times`;
  },
});

const PLACES = 1;

/** Makes a room, if there is a place for it. */
function openRoom({ tenant }: World, db: Pool): Promise<boolean> {
  const caller = callerOf(tenant, { limits: { [ROOMS_LIMIT.name]: PLACES } });
  const opened = inTransaction(db, async (tx) => {
    await makeRoom(tx as unknown as Pool, tenant);
    await takePlace(tx, limitHolderOf(caller), ROOMS_LIMIT, (most) =>
      countUpTo(tx, 'count-rooms-of-tenant', most, 'select from rooms where tenant_id = $1', [tenant]),
    );
  });
  return wasDone(opened, 'quota_exceeded');
}

const lastPlace = staged<World>({
  name: 'the last place under a limit',
  prepare: async (db) => {
    const tenant = await makeTenant(db, { status: 'active' });
    await db.query('insert into tenant_places (tenant_id, limit_name, max, free) values ($1, $2, 0, 0)', [
      tenant,
      ROOMS_LIMIT.name,
    ]);
    return { tenant, keys: [] };
  },
  actors: [openRoom, openRoom],
  check: async (_db, _world, opened) => {
    const count = opened.filter((each) => each === true).length;
    return count === PLACES ? undefined : `${count} rooms have been opened`;
  },
});

interface RoomWorld {
  readonly tenant: TenantId;
  readonly room: Room;
}

/** Without its lock, an admission would see the room as it was before its end. */
const endingRoom = staged<RoomWorld>({
  name: 'a user is admitted to a room while it ends',
  prepare: async (db) => {
    const tenant = await makeTenant(db, { status: 'active' });
    return { tenant, room: await makeRoom(db, tenant) };
  },
  actors: [
    ({ tenant, room: { name } }, db) =>
      inTransaction(db, (tx) => endRoomByName(tx, tenant, { name, actor: undefined })),
    ({ tenant, room: { uid } }, db) =>
      enterAlone(db, newAdmission({ tenant, roomUid: uid, username: 'ann' })),
  ],
  check: async (db, { tenant }) => {
    const { rowCount } = await db.query('select from participants where tenant_id = $1 and left_at is null', [
      tenant,
    ]);
    return rowCount === 0 ? undefined : 'a user is in a room that has ended';
  },
});

export const KEYS_AND_ROOMS: readonly Part[] = [
  {
    part: 'keys',
    scenarios: [lastKeys, revokedCaller],
    races: [
      {
        name: 'a tenant loses its last two keys',
        scenario: lastKeys,
        rewrite: { statement: 'lock-tenant', from: 'for no key update', to: '' },
      },
      {
        name: 'a revoked key makes another one',
        scenario: revokedCaller,
        rewrite: { statement: 'lock-tenant', from: 'for no key update', to: '' },
        wasReal: true,
      },
    ],
  },
  {
    part: 'idempotency',
    scenarios: [repeatedCall],
    races: [
      {
        name: 'a call takes effect twice',
        scenario: repeatedCall,
        rewrite: {
          statement: 'lock-key',
          from: 'pg_advisory_xact_lock(hashtextextended($2, $1))',
          to: 'hashtextextended($2, $1)',
        },
      },
    ],
  },
  {
    part: 'limits',
    scenarios: [lastPlace],
    races: [
      {
        name: 'two take the last place',
        scenario: lastPlace,
        rewrite: {
          statement: 'lock-places',
          from: 'do update set max = excluded.max, free = 0',
          to: 'do nothing',
        },
      },
    ],
  },
  {
    part: 'rooms',
    scenarios: [endingRoom],
    races: [
      {
        name: 'a user is in a room that has ended',
        scenario: endingRoom,
        rewrite: { statement: 'upsert-admission', from: 'for share of r', to: '' },
      },
    ],
  },
];
