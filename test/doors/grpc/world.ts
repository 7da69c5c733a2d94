/** Tenants in every state that matters to a failure, each with the same rooms and participants. */

import { randomBytes } from 'node:crypto';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { CAPABILITIES } from '../../../src/access/rights/capabilities.ts';
import type { KeyCeiling } from '../../../src/access/rights/key-ceiling.ts';
import { skeleton } from '../../../src/access/usernames/skeleton.ts';
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { LimitOverrides } from '../../../src/base/tenants/limits.ts';
import { renderTenantId, type TenantId, type TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { putBudget } from '../../../src/control/budgets/put-budget.ts';
import { DEFAULT_POLICY } from '../../../src/control/rooms/room.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { RateCards } from '../../../src/money/pricing/rate-cards.ts';
import { wanted } from '../../control/budgets/support.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { callerOf, makeKey, makeTenant, OPERATOR } from '../../support/tenants.ts';

export interface World {
  readonly tenant: TenantId;
  /** In the form that requests use. */
  readonly id: string;
  readonly keys: Readonly<Record<KeyName, string>>;
  /** Ids of device credentials, which are unique across tenants. */
  readonly credentials: Readonly<Record<CredentialName, string>>;
}

export type KeyName = 'backend' | 'narrow' | 'relay' | 'revoked';
export type CredentialName = 'works' | 'revoked' | 'rotated' | 'expired';

/** The ceiling of the key `narrow`. */
const NARROW: KeyCeiling = {
  capabilities: ['chat.send', 'subscribe.audio'],
  roles: ['audience'],
  rooms: ['live*'],
  rank: 50,
  lifetimeSeconds: 600,
};

const hex = (digit: string) => digit.repeat(32);

/** Rooms of each world: uids by name. */
export const ROOMS = {
  live: `rm_${hex('0')}`,
  'live-over': `rm_${hex('1')}`,
  'live-locked': `rm_${hex('2')}`,
  'live-full': `rm_${hex('3')}`,
  'live-age': `rm_${hex('4')}`,
  other: `rm_${hex('5')}`,
} as const;
/** A room that only the world `foreign` has, and one that does not exist. */
export const FOREIGN_ROOM = { name: 'live-foreign', uid: `rm_${hex('f')}` } as const;
export const ABSENT_ROOM = { name: 'live-absent', uid: `rm_${hex('e')}` } as const;

/** Armed on `empty_for`, fired, disarmed; one that only the world `foreign` has; and one that does not exist. */
export const WATCHDOGS = {
  armed: `wd_${hex('0')}`,
  fired: `wd_${hex('1')}`,
  disarmed: `wd_${hex('2')}`,
  foreign: `wd_${hex('f')}`,
  absent: `wd_${hex('e')}`,
} as const;

/** A budget of each world, and one that only the world `foreign` has. */
export const BUDGETS = { own: 'own', foreign: 'foreign' } as const;

/** An idempotency key that each world has already used for another call. */
export const USED_KEY = 'used';

/** A device for each participant. */
export function thumbprintOf(name: string): string {
  return Buffer.from(name.padEnd(32, '.')).toString('base64url');
}

/** Users of the room `live`: their ranks and capabilities. `gone` has no valid token any more. */
const PEOPLE: Readonly<Record<string, { rank: number; capabilities: readonly string[]; gone?: boolean }>> = {
  ann: { rank: 20, capabilities: ['chat.send', 'publish.audio'] },
  mod: { rank: 60, capabilities: CAPABILITIES },
  peer: { rank: 60, capabilities: CAPABILITIES },
  boss: { rank: 80, capabilities: CAPABILITIES },
  weak: { rank: 60, capabilities: ['chat.send'] },
  gone: { rank: 60, capabilities: CAPABILITIES, gone: true },
};

export interface WorldOptions {
  readonly status?: TenantStatus;
  readonly credit?: boolean;
  /** A hard one of the tenant. */
  readonly budget?: bigint;
  readonly isForeign?: boolean;
  readonly addressBans?: number;
  readonly limits?: LimitOverrides;
}

/** Written by SQL, since a test needs dozens. The rows equal those that the operations would write. */
export async function makeWorld(db: Pool, options: WorldOptions = {}): Promise<World> {
  const { status = 'active', credit = true, isForeign = false, addressBans = 0, limits = null } = options;
  const tenant = await makeTenant(db);
  const keys = {
    backend: await makeKey(db, tenant, 'backend'),
    narrow: await makeKey(db, tenant, 'backend', NARROW),
    relay: await makeKey(db, tenant, 'relay'),
    revoked: await makeKey(db, tenant, 'backend'),
  };
  await changeReferenceTable(db, 'update api_keys set revoked_at = now() where id = $1', [keys.revoked.id]);
  if (credit)
    await adjustCredit(db, OPERATOR, tenant, { amount: 1_000_000n, reason: 'a gift', id: undefined });
  await changeReferenceTable(db, 'update tenants set status = $2, limits = $3 where id = $1', [
    tenant,
    status,
    limits,
  ]);

  const { budget } = options;
  if (budget !== undefined)
    await inTransaction(db, (tx) =>
      putBudget(tx, { rates: new RateCards() }, callerOf(tenant), wanted({ max: budget })),
    );
  await makeRooms(db, tenant, isForeign);
  for (const [name, person] of Object.entries(PEOPLE)) await makePerson(db, tenant, 'live', name, person);
  await makePerson(db, tenant, 'live-full', 'someone', PEOPLE.ann!);
  if (isForeign) await makePerson(db, tenant, 'live', 'stranger', PEOPLE.ann!);
  await makeWatchdogs(db, tenant, isForeign);
  await makeBans(db, tenant, isForeign, addressBans);
  await makeBudget(db, tenant, isForeign ? BUDGETS.foreign : BUDGETS.own);
  await db.query(
    `insert into idempotency_keys (tenant_id, key, request_hash, answer) values ($1, $2, $3, '')`,
    [tenant, USED_KEY, Buffer.alloc(32)],
  );
  return {
    tenant,
    id: renderTenantId(tenant),
    keys: {
      backend: keys.backend.plaintext,
      narrow: keys.narrow.plaintext,
      relay: keys.relay.plaintext,
      revoked: keys.revoked.plaintext,
    },
    credentials: await makeCredentials(db, tenant),
  };
}

async function makeRooms(db: Pool, tenant: TenantId, isForeign: boolean): Promise<void> {
  const policies: Readonly<Record<string, object>> = {
    'live-locked': { locked: true },
    'live-full': { maxParticipants: 1 },
    'live-age': { ageVerificationRequired: true },
  };
  const rooms = [...Object.entries(ROOMS), ...(isForeign ? [[FOREIGN_ROOM.name, FOREIGN_ROOM.uid]] : [])];
  for (const [name, uid] of rooms as [string, string][]) {
    const isOver = name === 'live-over';
    await db.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy, state, ended_at, end_reason)
       values ($1, $2, $3, 1, $4, $5, $6, $7)`,
      [
        tenant,
        uid,
        name,
        { ...DEFAULT_POLICY, ...policies[name] },
        isOver ? 'ENDED' : 'LIVE',
        isOver ? new Date() : null,
        isOver ? 'ended' : null,
      ],
    );
  }
  await makePerson(db, tenant, 'live-over', 'ann', { ...PEOPLE.ann!, gone: true });
}

async function makePerson(
  db: Pool,
  tenant: TenantId,
  room: keyof typeof ROOMS,
  name: string,
  { rank, capabilities, gone = false }: { rank: number; capabilities: readonly string[]; gone?: boolean },
): Promise<void> {
  const until = new Date(Date.now() + (gone ? -60_000 : 900_000));
  await db.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at,
                               entered_at)
     values ($1, $2, $3, $4, 'host', $5, $6, $7, now() - interval '1 hour')`,
    [tenant, ROOMS[room], name, skeleton(name), rank, capabilities, until],
  );
  await db.query(
    `insert into admissions
       (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
     values ($1, $2, $3, $4, 'host', $5, $6, 'a key', $7)`,
    [tenant, ROOMS[room], name, thumbprintOf(name), rank, capabilities, until],
  );
}

async function makeWatchdogs(db: Pool, tenant: TenantId, isForeign: boolean): Promise<void> {
  const insert = (id: string, condition: string, state: string) =>
    db.query(
      `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, state, check_at, fired_at)
       values ($1, $2, $3, $4, 3600000, 'notify', $5, null, case when $5 = 'fired' then now() end)`,
      [tenant, id, ROOMS.live, condition, state],
    );
  await insert(WATCHDOGS.armed, 'empty_for', 'armed');
  await insert(WATCHDOGS.fired, 'empty_for', 'fired');
  await insert(WATCHDOGS.disarmed, 'empty_for', 'disarmed');
  if (isForeign) await insert(WATCHDOGS.foreign, 'alone_for', 'armed');
}

/** Bans of `villain` in the room `live` and of `outcast` everywhere, both by the tenant itself. */
async function makeBans(db: Pool, tenant: TenantId, isForeign: boolean, addressBans: number): Promise<void> {
  const users = [
    { name: 'villain', room: ROOMS.live },
    { name: 'outcast', room: null },
    ...(isForeign ? [{ name: 'stranger', room: ROOMS.live }] : []),
  ];
  for (const { name, room } of users) {
    const { rows } = await db.query('select name from rooms where tenant_id = $1 and uid = $2', [
      tenant,
      room,
    ]);
    await db.query(
      `insert into bans (tenant_id, id, room, room_uid, kind, value, rank) values ($1, $2, $3, $4, 'user', $5, 100)`,
      [tenant, `ban_${randomBytes(16).toString('hex')}`, rows[0]?.name, room, name],
    );
  }
  await db.query(`insert into bans (tenant_id, id, kind, value, rank) values ($1, $2, 'device', $3, 100)`, [
    tenant,
    `ban_${randomBytes(16).toString('hex')}`,
    thumbprintOf('outcast'),
  ]);
  await db.query(
    `insert into bans (tenant_id, id, kind, value, network, rank)
     select $1, 'ban_' || lpad(to_hex(i), 32, '0'), 'cidr', network::text, network, 100
       from generate_series(1, $2) i, cast('10.' || i / 256 || '.' || i % 256 || '.0/24' as cidr) network`,
    [tenant, addressBans],
  );
  await db.query(
    `insert into bans (tenant_id, id, kind, value, network, rank)
     values ($1, $2, 'cidr', '192.0.2.0/24', '192.0.2.0/24', 100)`,
    [tenant, `ban_${hex('c')}`],
  );
}

/** The customer has no tokens there. */
async function makeBudget(db: Pool, tenant: TenantId, id: string): Promise<void> {
  await db.query(
    `insert into budgets (tenant_id, id, uid, customer, period, max, hard, shares, period_start)
     values ($1, $2, $3, 'acme', 'month', 1, false, '{}', now())`,
    [tenant, id, `bu_${hex('0')}`],
  );
}

async function makeCredentials(db: Pool, tenant: TenantId): Promise<Record<CredentialName, string>> {
  const insert = async (columns: { retires?: string; revoked?: string; expires?: string }) => {
    const { id, hash } = newKey('dev');
    await changeReferenceTable(
      db,
      `insert into device_credentials (tenant_id, id, name, hash, publish, retires_at, revoked_at, expires_at)
       values ($1, $2, 'a device', $3, '{audio}', now() + $4::interval, now() + $5::interval, now() + $6::interval)`,
      [tenant, id, hash, columns.retires, columns.revoked, columns.expires],
    );
    return id;
  };
  return {
    works: await insert({}),
    revoked: await insert({ revoked: '-1 s' }),
    rotated: await insert({ retires: '1 h' }),
    expired: await insert({ expires: '-1 s' }),
  };
}
