import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { liftEndedBans } from '../../../src/control/bans/bans.sql.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { makeTenants } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);

test('bans that expired are marked as lifted, some at a time, and those of ended rooms stay', async () => {
  const of = controlOf(await app.signUp());
  const { db } = app.service.deps;
  const ban = (value: string, more: object = {}) =>
    of.call(ModerationService.method.banSubject, { subject: { case: 'username', value }, ...more });
  for (const room of ['over', 'live']) await of.call(RoomService.method.createRoom, { room });
  await ban('stays');
  await ban('later', { ttl: { seconds: 3600n } });
  await ban('inside', { room: 'live' });
  for (const value of ['expired', 'expired-too']) await ban(value, { ttl: { seconds: 3600n } });
  await ban('outside', { room: 'over' });
  await of.call(RoomService.method.endRoom, { room: 'over' });
  // In one transaction, because the service of this file also lifts bans.
  await inTransaction(db, async (tx) => {
    await tx.query(
      `update bans set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'
        where value like 'expired%'`,
    );
    expect(await liftEndedBans(tx, 1)).toBe(1);
    expect(await liftEndedBans(tx, 10)).toBe(1);
  });
  const { rows } = await db.query('select value from bans where lifted_at is null order by value');
  expect(rows.map(({ value }) => value)).toStrictEqual(['inside', 'later', 'outside', 'stays']);
});

test('bans that stand, of many tenants, keep none from being lifted', async () => {
  const { db } = app.service.deps;
  const tenants = await makeTenants(db, 120);
  const ban = (tx: Tx, id: string, lifetime: string, banned: readonly bigint[]) =>
    tx.query(
      `insert into bans (tenant_id, id, kind, value, rank, created_at, expires_at)
       select tenant, $2, 'user', $2, 0, t.now - interval '1 day', t.now + $3::interval
         from unnest($1::bigint[]) as tenant, (select now() as now) as t`,
      [banned, id, lifetime],
    );
  await inTransaction(db, async (tx) => {
    await ban(tx, 'stands', '1 day', tenants);
    await ban(tx, 'ended', '-1 hour', tenants.slice(0, 20));
    expect(await liftEndedBans(tx, 100)).toBe(20);
  });
});
