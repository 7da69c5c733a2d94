import { expect, test } from 'vitest';
import { makeOperatorLink } from '../../../../src/access/operators/log-in-with-link.ts';
import { cookieOf, getPage, makeMember } from '../../../support/console.ts';
import { getOpsPage, makeOperator, sendOpsForm } from '../../../support/operators.ts';
import { useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
const isOpen = async (cookie: string) => (await getOpsPage(app, '/console', cookie)).status === 200;

test('an operator logs in and out, and the trail of the service has both', async () => {
  const link = await makeOperatorLink(db(), { kind: 'operator', id: 'ann' }, app.config.opsUrl);
  const headers = { 'user-agent': 'Mozilla/5.0 (Macintosh) Chrome/140.0 Safari/537.36' };
  const cookie = cookieOf(await sendOpsForm(app, new URL(link).pathname, {}, { headers }));
  const { text } = await getOpsPage(app, '/console/sessions', cookie);
  for (const words of ['Chrome on macOS', '127.0.0.0/24', 'this session']) expect(text).toContain(words);
  await sendOpsForm(app, '/console/logout', {}, { cookie });
  const { rows } = await db().query(
    `select action, actor_id as actor, address, tenant_id as tenant, subject, after from audit_entries
      where action like 'operator_logged%' order by seq`,
  );
  const by = { actor: 'ann', address: '127.0.0.1', tenant: null, subject: 'ann' };
  expect(rows).toEqual([
    { ...by, action: 'operator_logged_in', after: { proof: 'link', device: 'Chrome on macOS' } },
    { ...by, action: 'operator_logged_out', after: null },
  ]);
});

test('an operator ends one own session, or all others, and none of another operator', async () => {
  const [here, there, third] = [await makeOperator(db()), await makeOperator(db()), await makeOperator(db())];
  const other = await makeOperator(db(), { name: 'ann' });
  const { rows } = await db().query<{ id: string; operator: string }>(
    'select id, operator from operator_sessions',
  );
  const { text } = await getOpsPage(app, '/console/sessions', here.cookie);
  const shown = [...text.matchAll(/value="(os_[0-9a-f]{32})"/g)].map(([, id]) => id!);
  expect(shown).toHaveLength(2);
  for (const { id } of rows.filter(({ operator }) => operator === 'ann'))
    await sendOpsForm(app, '/console/sessions/end', { session: id }, here);
  await sendOpsForm(app, '/console/sessions/end', { session: shown[0]! }, here);
  expect([await isOpen(there.cookie), await isOpen(third.cookie)].filter(Boolean)).toHaveLength(1);
  await sendOpsForm(app, '/console/sessions/end-others', {}, here);
  const open = await Promise.all([here, there, third, other].map(({ cookie }) => isOpen(cookie)));
  expect(open).toEqual([true, false, false, true]);
  const { rows: ended } = await db().query(
    `select subject, before from audit_entries where action = 'operator_sessions_ended'`,
  );
  expect(ended).toEqual([1, 1].map((sessions) => ({ subject: here.name, before: { sessions } })));
});

test('an operator sees and ends the sessions of a tenant', async () => {
  const tenant = await app.paidTenant();
  const [one, two] = [await makeMember(db(), idOf(tenant)), await makeMember(db(), idOf(tenant))];
  const stranger = await makeMember(db(), idOf(await app.paidTenant()));
  const operator = await makeOperator(db());
  const path = `/console/tenants/${tenant.id}/sessions`;
  const { text } = await getOpsPage(app, path, operator.cookie);
  expect([one, two, stranger].map(({ email }) => text.includes(email))).toEqual([true, true, false]);
  const statusOf = async ({ cookie }: { cookie: string }) => (await getPage(app, '/console', cookie)).status;
  const [, session] = /value="(cs_[0-9a-f]{32})"/.exec(text)!;
  await sendOpsForm(app, `${path}/end`, { session: session! }, operator);
  expect([await statusOf(one), await statusOf(two)].sort()).toEqual([200, 303]);
  await sendOpsForm(app, `${path}/end-all`, {}, operator);
  expect([await statusOf(one), await statusOf(two), await statusOf(stranger)]).toEqual([303, 303, 200]);
  const { json } = await app.request('GET', '/v1/audit?action=session_ended', { key: tenant.key });
  expect(json.entries).toMatchObject([{ actor: { kind: 'operator' } }, { actor: { kind: 'operator' } }]);
  expect(JSON.stringify(json)).not.toContain(operator.name);
});
