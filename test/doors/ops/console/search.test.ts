/** How operators find a tenant. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { makeMember } from '../../../support/console.ts';
import { createCredential } from '../../../support/devices.ts';
import { getOpsPage, makeOperator, type TestOperator } from '../../../support/operators.ts';
import { type TestTenant, useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let grace: TestOperator;

beforeAll(async () => {
  grace = await makeOperator(db());
});

const get = (path: string) => getOpsPage(app, path, grace.cookie);
const pathOf = ({ id }: TestTenant) => `/console/tenants/${id}`;

/** The page that a search leads to; `undefined`: a list. */
async function foundBy(search: string): Promise<string | undefined> {
  const { headers } = await get(`/console/tenants?search=${encodeURIComponent(search)}`);
  return headers.get('location') ?? undefined;
}

test('tenants are found by every id that they see themselves', async () => {
  const other = await app.signUp();
  const hex = () => randomUUID().replaceAll('-', '');
  const owner = await makeMember(db(), idOf(other));
  const { payment } = await app.pay(other);
  const [room, ban, watchdog, grant, erasure, refund, dispute] = [
    `rm_${hex()}`,
    `ban_${hex()}`,
    `wd_${hex()}`,
    `gr_${hex()}`,
    `er_${hex()}`,
    `re_${hex()}`,
    `du_${hex()}`,
  ];
  const insert = (text: string, ...values: string[]) => db().query(text, [idOf(other), ...values]);
  await insert(
    `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, 'r', 1, '{}')`,
    room!,
  );
  await insert(`insert into bans (tenant_id, id, kind, value, rank) values ($1, $2, 'user', 'u', 100)`, ban!);
  await insert(
    `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action)
     values ($1, $2, $3, 'empty_for', 60000, 'end_room')`,
    watchdog!,
    room!,
  );
  await insert(
    `insert into grants (tenant_id, seq, id, amount, reason, granted_at) values ($1, 1, $2, 5, 'r', now())`,
    grant!,
  );
  await insert(`insert into erasures (tenant_id, id, name, step) values ($1, $2, 'ann', 'x')`, erasure!);
  for (const [table, id] of [
    ['refunds', refund],
    ['disputes', dispute],
  ])
    await insert(
      `insert into ${table} (id, payment_id, amount${table === 'refunds' ? ', status' : ''})
       select $2, $3, 5${table === 'refunds' ? `, 'pending'` : ''} where $1::bigint is not null`,
      id!,
      payment,
    );
  const { rows } = await db().query('select id from audit_entries where tenant_id = $1 limit 1', [
    idOf(other),
  ]);
  const prefix = other.key.slice(0, other.key.indexOf('_'));
  for (const search of [
    `${prefix}_${other.keyId}`,
    other.key,
    (await createCredential(app, other)).credential,
    owner.id,
    room!,
    ban!,
    watchdog!,
    grant!,
    erasure!,
    refund!,
    dispute!,
    rows[0].id,
  ])
    expect([search, await foundBy(search)]).toEqual([search, pathOf(other)]);
  expect(await foundBy(`rm_${hex()}`)).toBeUndefined();
});

test('of tenants that look alike, those that fit exactly come first, then those that paid, and a link goes on', async () => {
  const name = `Look ${randomUUID()}`;
  const exact = await app.signUp({ name, email: 'the.real@example.com' });
  const paid = await app.signUp({ name: `${name} paid` });
  await db().query(`update tenants set status = 'active' where id = $1`, [idOf(paid)]);
  await db().query(
    `with made as (insert into tenants (id, name, email)
       select -n, $1 || ' ' || n, 'x@example.com' from generate_series(1000, 1205) n returning id)
     insert into accounts (tenant_id) select id from made`,
    [name],
  );
  const search = `/console/tenants?search=${encodeURIComponent(name.toUpperCase())}`;
  const list = async (path: string) => {
    const { text } = await get(path);
    const ids = [...text.matchAll(/<code>(t_[0-9a-f]{16})<\/code>/g)].map(([, id]) => id!);
    const next = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    return { text, ids, next };
  };
  const first = await list(search);
  expect(first.ids.slice(0, 2)).toEqual([exact.id, paid.id]);
  expect([first.ids.length, first.text.includes('More tenants fit than these 100.')]).toEqual([100, true]);
  const second = await list(first.next!);
  const third = await list(second.next!);
  expect([second.ids.length, third.ids.length, third.next]).toEqual([100, 8, undefined]);
  expect(new Set([...first.ids, ...second.ids, ...third.ids]).size).toBe(208);
  expect(third.text).toContain('rel="prev"');
  expect((await get('/console/tenants?skip=x')).status).toBe(400);
});
