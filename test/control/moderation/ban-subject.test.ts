/** The limit of active bans. What else a ban does is tested with `BanSubject`. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { banSubject } from '../../../src/control/moderation/ban-subject.ts';
import { unbanSubject } from '../../../src/control/moderation/unban-subject.ts';
import { endRoomByName } from '../../../src/control/rooms/end-room.ts';
import { useDatabase } from '../../support/database.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';
import { makeRoom } from '../watchdogs/support.ts';

const database = useDatabase();
let tenant: TenantId;

const caller = () => callerOf(tenant, { limits: { bans: 2 } });
const user = (value: string) => ({ kind: 'user', value }) as const;
const ban = (name: string, { room, ttlMs = null }: { room?: string; ttlMs?: number | null } = {}) =>
  inTransaction(database.pool, (tx) =>
    banSubject(tx, caller(), { room, subject: user(name), ttlMs, reason: '', actor: undefined }),
  );
const lift = (name: string, room?: string) =>
  inTransaction(database.pool, (tx) =>
    unbanSubject(tx, caller(), { room, subject: user(name), actor: undefined }),
  );
const FULL = { kind: 'quota_exceeded', message: 'limit reached: at most 2 active bans' };

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});

describe('the limit of active bans', () => {
  test('of concurrent bans for the last place, one succeeds', async () => {
    await ban('ann');
    const results = await Promise.allSettled(['bob', 'cem', 'dan'].map((name) => ban(name)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(FULL);
  });

  test('a ban that is set again needs no place', async () => {
    await ban('ann', { ttlMs: 60_000 });
    await ban('bob');
    expect(await ban('ann')).toMatchObject({ ban: { expiresAt: null } });
  });

  test('a ban that is lifted or expires makes room, and one whose room has ended does not', async () => {
    const { name: room } = await makeRoom(database.pool, tenant);
    await ban('ann', { room });
    await ban('bob');
    await expect(ban('cem')).rejects.toMatchObject(FULL);
    await inTransaction(database.pool, (tx) => endRoomByName(tx, tenant, { name: room, actor: undefined }));
    await expect(ban('cem')).rejects.toMatchObject(FULL);
    await lift('ann', room);
    await ban('cem');
    await expect(ban('dan')).rejects.toMatchObject(FULL);
    await lift('bob');
    await ban('dan');
    await expect(ban('eve')).rejects.toMatchObject(FULL);
    await database.pool.query(
      `update bans set created_at = now() - interval '2 s', expires_at = now() - interval '1 s'
        where tenant_id = $1 and value = 'dan'`,
      [tenant],
    );
    await ban('eve');
  });
});
