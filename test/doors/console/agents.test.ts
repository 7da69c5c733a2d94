/** Keys for agents, as owners make and revoke them. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { AGENT_KEYS_MAX } from '../../../src/access/agents/agent-key.ts';
import { getPage, logInByKey, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { connectAgent } from '../rest/mcp/agent.ts';

const PATH = '/console/agents';
const app = useService({ mcp: true, isRestricted: true });
const db = () => app.service.deps.db;

/** A paid tenant with an owner at the console. */
async function newTenant() {
  const of = await app.paidTenant();
  return { of, owner: await makeMember(db(), idOf(of)) };
}

const create = ({ cookie }: TestMember, fields: Record<string, string> = {}) =>
  sendForm(
    app,
    PATH,
    { form: randomUUID(), name: 'assistant', role: 'finance', writes: '5', days: '7', ...fields },
    { cookie },
  );
const shown = (text: string) => /agent_[0-9a-f]{16}_[\w-]{43}/.exec(text)?.[0];
const idIn = (text: string) => shown(text)!.split('_')[1]!;

async function keysOf(of: TestTenant) {
  const { rows } = await db().query(
    `select id, name, role, writes_per_day as writes, extract(days from expires_at - created_at)::integer as days
       from agent_keys where tenant_id = $1`,
    [idOf(of)],
  );
  return rows;
}

test('one is created, shown once, opens tools, says what it wrote, and is revoked', async () => {
  const { of, owner } = await newTenant();
  const { cookie } = owner;
  expect((await getPage(app, PATH, cookie)).text).toContain('There are no keys for agents.');
  const created = await create(owner);
  expect([created.status, created.text.includes(`${app.config.publicUrl}/mcp`)]).toEqual([200, true]);
  const id = idIn(created.text);
  expect(await keysOf(of)).toEqual([{ id, name: 'assistant', role: 'finance', writes: 5, days: 7 }]);

  const agent = await connectAgent(app.url, shown(created.text)!);
  onTestFinished(() => agent.close());
  const thresholds = [{ kind: 'balance', below_micros: 5_000_000 }];
  const setAlerts = (more = {}) => agent.callTool({ name: 'set_alerts', arguments: { thresholds, ...more } });
  const [preview] = (await setAlerts()).content as { text: string }[];
  const { confirmation } = JSON.parse(preview!.text);
  expect((await getPage(app, PATH, cookie)).text).toContain('0 of 5');
  await setAlerts({ confirmation });
  const { text } = await getPage(app, PATH, cookie);
  expect([text.includes('1 of 5'), text.includes(shown(created.text)!)]).toEqual([true, false]);

  const path = `${PATH}/${id}/revoke`;
  expect((await getPage(app, path, cookie)).text).toContain('Revoke the key');
  expect((await sendForm(app, path, {}, { cookie })).status).toBe(303);
  await expect(agent.listTools()).rejects.toThrow();
  expect((await getPage(app, path, cookie)).status).toBe(404);
  const { entries } = (await app.request('GET', '/v1/audit', { key: of.key })).json;
  const actor = { kind: 'member', id: owner.id };
  expect(entries.slice(0, 3)).toMatchObject([
    { action: 'agent_key_revoked', subject: id, actor },
    { action: 'alerts_changed', actor: { kind: 'key', id } },
    { action: 'agent_key_created', subject: id, actor, after: { writes_per_day: 5 } },
  ]);
});

test('a form that is sent ten times at once creates one', async () => {
  const { of, owner } = await newTenant();
  const form = randomUUID();
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(owner, { form })));
  expect(new Set(answers.map(({ text }) => shown(text))).size).toBe(1);
  expect(await keysOf(of)).toHaveLength(1);
});

test.each([
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ role: 'owner' }, 'role'],
  [{ writes: '101' }, 'writes'],
  [{ writes: '-1' }, 'writes'],
  [{ writes: 'many' }, 'writes'],
  [{ role: 'viewer', writes: '1' }, 'writes'],
  [{ days: '0' }, 'days'],
  [{ days: '91' }, 'days'],
])('%j is told beside its field', async (fields: Record<string, string>, wrong) => {
  const { of, owner } = await newTenant();
  const answer = await create(owner, fields);
  expect([answer.status, answer.text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
  expect(await keysOf(of)).toEqual([]);
});

test('more than may work at once are refused, and one that has ended makes room', async () => {
  const { of, owner } = await newTenant();
  for (let made = 1; made < AGENT_KEYS_MAX; made += 1) expect((await create(owner)).status).toBe(200);
  const last = await create(owner, { role: 'viewer', writes: '0' });
  expect((await getPage(app, PATH, owner.cookie)).text).toContain('only reads');
  expect((await create(owner)).status).toBe(409);
  await sendForm(app, `${PATH}/${idIn(last.text)}/revoke`, {}, owner);
  expect((await create(owner)).status).toBe(200);
  await db().query(
    `update agent_keys set created_at = created_at - interval '9 days', expires_at = expires_at - interval '9 days'
      where tenant_id = $1 and revoked_at is null`,
    [idOf(of)],
  );
  const { text } = await getPage(app, PATH, owner.cookie);
  expect([text.match(/>expired</g)?.length, text.includes('>works<')]).toEqual([AGENT_KEYS_MAX, false]);
  expect(text).not.toContain('/revoke"');
});

test('the list begins with keys that work, however many came later', async () => {
  const { of, owner } = await newTenant();
  const id = idIn((await create(owner, { name: 'old one' })).text);
  await db().query(
    `insert into agent_keys (tenant_id, id, name, hash, role, writes_per_day, created_at, expires_at, revoked_at)
     select $1, lpad(to_hex(n), 16, '0'), 'later', decode(lpad(to_hex(n), 64, '0'), 'hex'), 'viewer', 0,
            now() + interval '1 hour', now() + interval '1 day', now()
       from generate_series(1, 101) n`,
    [idOf(of)],
  );
  const { text } = await getPage(app, PATH, owner.cookie);
  expect(text).toContain(`href="${PATH}/${id}/revoke"`);
  expect(text).toContain('The newest 100 keys are shown.');
});

test('a viewer sees them, and a key of another tenant is not found', async () => {
  const { of, owner } = await newTenant();
  const path = `${PATH}/${idIn((await create(owner)).text)}/revoke`;
  const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
  const { text } = await getPage(app, PATH, viewer.cookie);
  expect([text.includes('assistant'), /name="writes"|\/revoke"/.test(text)]).toEqual([true, false]);
  const { owner: stranger } = await newTenant();
  expect((await getPage(app, path, stranger.cookie)).status).toBe(404);
  expect((await sendForm(app, path, {}, stranger)).status).toBe(404);
  expect((await sendForm(app, path, {}, owner)).status).toBe(303);
});

test('a session by key neither sees nor makes them: they would outlive the key', async () => {
  const { of, owner } = await newTenant();
  await create(owner);
  const cookie = await logInByKey(app, of.key);
  const asked = [
    await getPage(app, PATH, cookie),
    await sendForm(app, PATH, { form: randomUUID(), name: 'mine' }, { cookie }),
  ];
  expect(asked.map(({ status }) => status)).toEqual([403, 403]);
  expect(await keysOf(of)).toHaveLength(1);
});
