/** The audit trail has ids. Its page says whose they are, and leads there. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createAgentKey } from '../../../src/access/agents/create-agent-key.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { setAlerts } from '../../../src/money/alerts/set-alerts.ts';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const controlOf = useControl(app);
const db = () => app.service.deps.db;
let stage: Stage;
let owner: TestMember;
let viewer: TestMember;

beforeAll(async () => {
  stage = await newStage(app, controlOf);
  owner = await makeMember(db(), idOf(stage.tenant));
  viewer = await makeMember(db(), idOf(stage.tenant), { role: 'viewer', email: 'vi@example.com' });
});

const send = (path: string, fields: Record<string, string>) => sendForm(app, path, fields, owner);

/** What the newest entry of an action is about, without line breaks. */
async function aboutOf(action: string, { cookie } = owner): Promise<string> {
  const { text } = await getPage(app, `/console/audit?action=${action}`, cookie);
  return /data-label="Of">(.*?)<\/td>/s.exec(text)![1]!.replace(/\s+/g, ' ');
}

test('an act names the person and the room, which are links for those who may open them', async () => {
  await mint(stage, 'bob<');
  await send('/console/rooms/at/lobby/kick', { username: 'bob<', reason: 'rude' });
  const named = `<a href="/console/people?name=bob%3C"><bdi>bob&lt;</bdi></a>`;
  const room = `<a href="/console/rooms/at/lobby"><bdi>lobby</bdi></a>`;
  expect(await aboutOf('moderated')).toContain(`kicked ${named} in ${room}`);
  expect(await aboutOf('moderated', viewer)).toContain(`kicked <bdi>bob&lt;</bdi> in ${room}`);
  await send('/console/rooms/bans', {
    kind: 'cidr',
    subject: '203.0.113.0/24',
    room: '',
    time: 'day',
    reason: '',
  });
  expect(await aboutOf('moderated')).toContain('banned <bdi>203.0.113.0/24</bdi> in all rooms');
});

test('keys for agents are named, also as who acted', async () => {
  const tenant = idOf(stage.tenant);
  const wanted = { name: 'assistant', role: 'finance', writesPerDay: 1, days: 1 } as const;
  await inTransaction(db(), async (tx) => {
    const { key } = await createAgentKey(tx, { tenant, actor: OPERATOR }, wanted);
    await setAlerts(tx, { kind: 'key', id: key.id, address: '203.0.113.9' }, tenant, [
      { kind: 'balance', below: 5n },
    ]);
  });
  expect(await aboutOf('agent_key_created')).toMatch(
    /^<span class="name"><a href="\/console\/agents"><bdi>assistant \([0-9a-f]{16}\)<\/bdi>/,
  );
  const { text } = await getPage(app, '/console/audit?action=alerts_changed', owner.cookie);
  expect(text).toMatch(/key <a href="\/console\/agents"><bdi>assistant \(/);
});

test('keys, devices, webhooks, members, budgets and watchdogs are named', async () => {
  await send('/console/keys', { form: randomUUID(), name: 'of relays', kind: 'relay' });
  expect(await aboutOf('key_created')).toMatch(/<a href="\/console\/keys\/[0-9a-f]{16}"><bdi>of relays \(/);
  await send('/console/devices', { form: randomUUID(), name: 'kiosk', publish_audio: 'on' });
  expect(await aboutOf('device_credential_created')).toContain('<a href="/console/devices"><bdi>kiosk (');
  await send(`/console/members/${viewer.id}/role`, { role: 'finance' });
  await send(`/console/members/${viewer.id}/role`, { role: 'viewer' });
  expect(await aboutOf('member_role_changed')).toContain(
    '<a href="/console/members"><bdi>vi@example.com</bdi></a>',
  );
  const { json } = await app.request('POST', '/v1/webhooks', {
    key: stage.tenant.key,
    body: { url: 'https://hooks.example/secret', types: [] },
  });
  const { id } = json.webhook;
  expect(await aboutOf('webhook_created')).toContain(
    `<a href="/console/webhooks/${id}"><bdi>hooks.example</bdi></a>`,
  );
  await app.request('DELETE', `/v1/webhooks/${id}`, { key: stage.tenant.key });
  expect(await aboutOf('webhook_deleted')).toContain('<bdi>hooks.example</bdi>');
  const budget = { limit: '5', period: 'day', kind: 'soft', alerts: '', customer: '', room: '', key: '' };
  await send('/console/budgets', { id: 'all', ...budget });
  expect(await aboutOf('budget_made')).toContain('<a href="/console/budgets"><bdi>all</bdi></a>');
  await send('/console/rooms/watchdogs', {
    ...{ room: 'lobby', condition: 'empty_for', minutes: '5', action: 'notify', warning: '' },
  });
  expect(await aboutOf('watchdog_created')).toContain(
    '<a href="/console/rooms/at/lobby"><bdi>lobby</bdi></a>',
  );
  await send('/console/alerts', { kind: 'balance', below: '5' });
  expect(await aboutOf('alerts_changed')).toContain('<a href="/console/alerts">alerts</a>');
});

test('the key that acted is named, and members only to those who see them', async () => {
  const { text } = await getPage(app, '/console/audit?action=webhook_created', owner.cookie);
  expect(text).toMatch(/<span>key <a href="\/console\/keys\/\w+"><bdi>default \(\w+\)<\/bdi><\/a>/);
});
