/** How operators find a tenant. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { getOpsPage, makeOperator, type TestOperator } from '../../../support/operators.ts';
import { useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let grace: TestOperator;

beforeAll(async () => {
  grace = await makeOperator(db());
});

const get = (path: string) => getOpsPage(app, path, grace.cookie);

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
