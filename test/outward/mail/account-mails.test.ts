/** Mails to owners about the status of their tenant. */
import { expect, test, vi } from 'vitest';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { renderMail } from '../../../src/outward/mail/render-mail.ts';
import { makeMember } from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;

interface Row {
  readonly address: string;
  readonly subject: Record<string, unknown>;
}

async function mailsOf(tenant: TestTenant): Promise<Row[]> {
  const { rows } = await db().query<Row>(
    `select address, subject from mails where tenant_id = $1 and event_type = 'tenant_status_changed'
      order by event_seq, address`,
    [idOf(tenant)],
  );
  return rows;
}

async function change(tenant: TestTenant, to: 'suspended' | 'archived' | 'active', told?: string) {
  await changeStatus(db(), OPERATOR, idOf(tenant), to, 'secret reason', told);
  app.service.deps.events.wake(idOf(tenant));
}

const waitFor = (tenant: TestTenant, count: number) =>
  vi.waitFor(async () => expect(await mailsOf(tenant)).toHaveLength(count), {
    timeout: 60_000,
    interval: 50,
  });

test('owners who have joined get one when it is suspended, archived or active again, whatever the settings', async () => {
  const tenant = await app.paidTenant();
  const { key } = tenant;
  await app.request('PUT', '/v1/mail', { key, body: { addresses: [], alerts: false, receipts: false } });
  await makeMember(db(), idOf(tenant), { email: 'joined@example.com' });
  await makeMember(db(), idOf(tenant), { email: 'invited@example.com', proof: 'signup' });
  await makeMember(db(), idOf(tenant), { email: 'viewer@example.com', role: 'viewer' });
  await change(tenant, 'suspended', 'Unusual payments');
  await waitFor(tenant, 1);
  await change(tenant, 'active');
  await waitFor(tenant, 2);
  await setExempt(db(), OPERATOR, idOf(tenant), true);
  await change(tenant, 'archived');
  await waitFor(tenant, 3);
  const made = await mailsOf(tenant);
  expect(made.map(({ address, subject }) => [address, subject.to, subject.told])).toEqual([
    ['joined@example.com', 'suspended', 'Unusual payments'],
    ['joined@example.com', 'active', null],
    ['joined@example.com', 'archived', null],
  ]);
  expect(JSON.stringify(made)).not.toContain('secret reason');
});

test('if no owner has joined, the address of the signup gets it', async () => {
  const tenant = await app.paidTenant();
  await change(tenant, 'suspended');
  await waitFor(tenant, 1);
  const { rows } = await db().query('select email from tenants where id = $1', [idOf(tenant)]);
  expect((await mailsOf(tenant))[0]!.address).toBe(rows[0].email);
});

test('it says what was told and whom to write to', () => {
  const event = {
    type: 'tenant_status_changed',
    at: new Date(0),
    subject: { from: 'active', to: 'suspended', told: 'Unusual payments' },
  } as const;
  const mail = {
    tenant: idOf({ id: 't_0123456789abcdef' } as TestTenant),
    tenantName: 'Ada',
    event,
    isLast: false,
  };
  const links = { publicUrl: 'https://service.test', supportEmail: 'help@service.test' };
  const { subject, text } = renderMail(mail, links);
  expect(subject).toBe('Your account was suspended · Ada');
  expect(text).toContain('Why: Unusual payments');
  expect(text).toContain('Questions? Write to help@service.test.');
  expect(text).not.toContain('Unsubscribe');
});
