/** How many requests one person makes in a minute. */
import { beforeAll, describe, expect, test } from 'vitest';
import { OPERATOR_REQUESTS_PER_MINUTE } from '../../../src/access/sessions/request-limit.ts';
import { newSecret } from '../../../src/access/sessions/session.ts';
import { insertSession } from '../../../src/access/sessions/sessions.sql.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { COOKIE, getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { getOpsPage, makeOperator } from '../../support/operators.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR, setLimits } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
const MAX = 3;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.signUp();
  await setLimits(db(), tenant, { console_requests_per_minute: MAX });
  owner = await makeMember(db(), idOf(tenant));
});

describe('a member beyond the limit', () => {
  test('is refused in all sessions and processes, with the navigation and the time to wait, and others are not', async () => {
    const { plaintext, hash } = newSecret();
    await insertSession(db(), { hash, tenant: idOf(tenant), proof: 'mail', member: owner.id });
    const other = { cookie: `${COOKIE}=${plaintext}` };
    for (let count = 0; count < MAX; count += 1)
      expect((await getPage(app, '/console/sessions', owner.cookie)).status).toBe(200);
    const { url } = await app.another();
    const answers = [
      await getPage(app, '/console/sessions', owner.cookie),
      await getPage(app, '/console/keys', other.cookie),
      await sendForm(app, '/console/logout', {}, other),
      await getPage({ ...app, url }, '/console/sessions', owner.cookie),
    ];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 303, 429]);
    const [{ text, headers }] = answers as [(typeof answers)[number]];
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(text).toContain('<nav aria-label="Console">');
    expect(text).toContain('<h1>Too many requests</h1>');
    expect(text).toMatch(
      /at most 3 requests a minute of one person at the console\. Try again in \d+ seconds?\./,
    );
    const colleague = await makeMember(db(), idOf(tenant));
    expect((await getPage(app, '/console/sessions', colleague.cookie)).status).toBe(200);
  });

  test('waits at a suspended tenant, too', async () => {
    const of = await app.paidTenant();
    const member = await makeMember(db(), idOf(of));
    await setLimits(db(), of, { console_requests_per_minute: 1 });
    await changeStatus(db(), OPERATOR, idOf(of), 'suspended', 'test');
    expect((await getPage(app, '/console', member.cookie)).status).toBe(403);
    expect((await getPage(app, '/console', member.cookie)).status).toBe(429);
  });
});

test('an operator beyond the limit is refused in all sessions, and others are not', async () => {
  const grace = await makeOperator(db());
  const again = await makeOperator(db());
  const see = async ({ cookie }: { cookie: string }) =>
    (await getOpsPage(app, '/console/sessions', cookie)).status;
  expect(await see(grace)).toBe(200);
  await db().query(`update rate_limits set points = $1 where key = 'console_requests:operator grace'`, [
    OPERATOR_REQUESTS_PER_MINUTE,
  ]);
  const { status, text } = await getOpsPage(app, '/console/sessions', again.cookie);
  expect([status, text.includes('<nav aria-label="Operators">')]).toEqual([429, true]);
  expect(await see(await makeOperator(db(), { name: 'ada' }))).toBe(200);
});
