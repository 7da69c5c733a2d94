import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { runAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const admin = (...args: string[]) => runAdmin({ DATABASE_URL: db().options.connectionString! }, ...args);

async function statusOf(tenant: TestTenant): Promise<string> {
  const { rows } = await db().query('select status from tenants where id = $1', [parseTenantId(tenant.id)]);
  return rows[0].status;
}

describe('tenants list', () => {
  it('shows the newest tenants first, up to the limit', async () => {
    const older = await app.paidTenant();
    const newer = await app.signUp({ name: 'Bob\u001b[31m Video', email: 'bob@example.com' });

    const two = await admin('tenants', 'list', '--limit', '2');
    expect(two).toMatchObject({ code: 0, err: '' });
    const [head, first, second, ...rest] = two.out.split('\n');
    expect(head).toMatch(/^ID +STATUS +BALANCE +EXEMPT +CREATED +EMAIL +NAME$/);
    // Names are user input, and must not contain terminal escapes.
    expect(first).toMatch(
      new RegExp(`^${newer.id} +pending +\\$0\\.000000 +no +20\\S+Z +bob@example\\.com +Bob\\?\\[31m Video$`),
    );
    expect(second).toMatch(new RegExp(`^${older.id} +active +\\$20\\.000000 +no `));
    expect(rest).toEqual(['']);

    const pending = await admin('tenants', 'list', '--status', 'pending', '--json');
    expect(pending.json).toEqual([
      {
        id: newer.id,
        name: 'Bob\u001b[31m Video',
        email: 'bob@example.com',
        status: 'pending',
        exempt: false,
        created_at: expect.stringMatching(/Z$/),
        balance: { micros: 0, display: '$0.000000' },
      },
    ]);
  });

  it.each([
    ['--status', 'asleep'],
    ['--limit', '0'],
  ])('does not understand %s %s', async (option, value) => {
    expect(await admin('tenants', 'list', option, value)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(option),
    });
  });
});

describe('tenants rename', () => {
  it('changes the name, with a reason', async () => {
    const { id } = await app.signUp();
    const args = ['tenants', 'rename', id, '--name', ' Ada & Co ', '--reason', 'a merger'];
    expect(await admin(...args)).toMatchObject({ code: 0, out: `${id} is Ada & Co\n` });
    expect((await admin(...args, '--json')).json).toEqual({ id, name: 'Ada & Co' });
    expect((await admin('tenants', 'show', id, '--json')).json.name).toBe('Ada & Co');
    const { rows } = await db().query('select new_name from tenant_name_changes where tenant_id = $1', [
      parseTenantId(id),
    ]);
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['--name', ' '],
    ['--name', 'x'.repeat(201)],
    ['--reason', ''],
  ])('refuses %s %j, and an unknown tenant', async (option, text) => {
    const { id } = await app.signUp();
    const given = { '--name': 'Ada', '--reason': 'a', [option]: text };
    const options = Object.entries(given).flat();
    expect(await admin('tenants', 'rename', id, ...options)).toMatchObject({ code: 2 });
    const unknown = await admin('tenants', 'rename', 't_0000000000000000', '--name', 'Ada', '--reason', 'a');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('tenant not found') });
  });
});

describe('tenants create', () => {
  const create = (name: string, email: string, ...more: string[]) =>
    admin('tenants', 'create', '--name', name, '--email', email, ...more);

  it('creates a pending tenant, whose key works', async () => {
    const { code, err, json } = await create('Ada Video', 'ada@example.com', '--json');
    expect({ code, err, json }).toMatchObject({ code: 0, err: '', json: { status: 'pending' } });
    const { tenant } = (await app.request('GET', '/v1/billing', { key: json.api_key })).json;
    expect(tenant).toMatchObject({
      id: json.id,
      name: 'Ada Video',
      email: 'ada@example.com',
      status: 'pending',
    });
    const { keys } = (await app.request('GET', '/v1/keys', { key: json.api_key })).json;
    expect(keys).toMatchObject([{ id: json.key_id, name: 'default', kind: 'backend' }]);
    expect((await create('Bob', 'bob@example.com')).out).toMatch(/^API key +svc_[0-9a-f]{16}_/m);
  });

  it.each([
    ['', 'ada@example.com', '1 to 200 characters'],
    ['n'.repeat(201), 'ada@example.com', '1 to 200 characters'],
    ['Ada', 'nobody', 'an e-mail address'],
    ['Ada', `${'n'.repeat(250)}@example.com`, 'an e-mail address'],
  ])('does not understand %j %j', async (name, email, message) => {
    expect(await create(name, email)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});

describe('tenants show', () => {
  it('shows all details, but no secret', async () => {
    const tenant = await app.paidTenant({ cents: 1234 });
    const id = parseTenantId(tenant.id);
    const records = [usageRecord({ id: 'twice', seconds: 1 }), usageRecord({ id: 'twice', seconds: 2 })];
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
    await db().query(
      `update payment_settings set top_up_enabled = true, top_up_below = 5000000, top_up_amount = 20000000,
              top_up_paused_until = 'infinity', frozen_by = '{dp_1,issfr_2}', last_top_up_error = 'Declined [lost_card].'
        where tenant_id = $1`,
      [id],
    );

    const budget = { room: 'class-*', period: 'day', limit_micros: 7_000_000, hard: true };
    await app.request('PUT', '/v1/budgets/classes', { key: tenant.key, body: budget });

    const shown = await admin('tenants', 'show', tenant.id);
    expect(shown).toMatchObject({ code: 0, err: '' });
    for (const line of [
      /^status +active$/m,
      /^email +ada@example\.com$/m,
      /^balance +\$12\.339975$/m,
      /^carry +0\.\d{4} of a micro$/m,
      /^conflicts +1$/m,
      /^saved card +pm_\w+$/m,
      /^auto top-up +\$20\.000000 when below \$5\.000000$/m,
      /^paused until +it is turned on again$/m,
      /^frozen by +dp_1, issfr_2$/m,
      /^last error +Declined \[lost_card\]\.$/m,
      new RegExp(`^${tenant.keyId} +backend `, 'm'),
      new RegExp(`^${tenant.relayKeyId} +relay `, 'm'),
      /^time zone +UTC$/m,
      /^classes +hard +day +- +class-\* +- +\$7\.000000 +\$0\.000000 +\$0\.000000 +\$7\.000000$/m,
      /^\S+Z +pending +active +first payment$/m,
    ]) {
      expect(shown.out).toMatch(line);
    }

    const { json, out } = await admin('tenants', 'show', tenant.id, '--json');
    expect(json).toMatchObject({
      id: tenant.id,
      status: 'active',
      admitted: true,
      balance: { micros: 12_339_975, display: '$12.339975' },
      carry: { denominator: 2_013_265_920_000 },
      conflicts: 1,
      time_zone: 'UTC',
      budgets: [{ id: 'classes', room: 'class-*', customer: null, hard: true, free: { micros: 7_000_000 } }],
      postings: 2,
      payments: {
        auto_top_up: { enabled: true, frozen_by: ['dp_1', 'issfr_2'], last_error: 'Declined [lost_card].' },
      },
      history: [{ from: 'pending', to: 'active', reason: 'first payment' }],
    });
    for (const key of [tenant.key, tenant.relayKey]) {
      const hash = createHash('sha256').update(key).digest();
      for (const secret of [key, key.slice(-43), hash.toString('hex'), hash.toString('base64')]) {
        expect(out + shown.out).not.toContain(secret);
      }
    }
  });
});

describe('tenants suspend, resume, archive, delete', () => {
  it('changes the status and records the reason', async () => {
    const tenant = await app.paidTenant();
    for (const [command, status] of [
      ['suspend', 'suspended'],
      ['resume', 'active'],
      ['archive', 'archived'],
      ['delete', 'deleted'],
    ]) {
      const moved = await admin('tenants', command!, tenant.id, '--reason', `because of ${command}`);
      expect(moved).toMatchObject({ code: 0, out: `${tenant.id} is ${status}\n`, err: '' });
      expect(await statusOf(tenant)).toBe(status);
    }
    const { rows } = await db().query(
      'select reason from tenant_status_changes where tenant_id = $1 order by at',
      [parseTenantId(tenant.id)],
    );
    expect(rows.map((row) => row.reason)).toEqual([
      'first payment',
      'because of suspend',
      'because of resume',
      'because of archive',
      'because of delete',
    ]);
  });

  it('refuses invalid transitions like REST', async () => {
    const tenant = await app.signUp();
    expect(await admin('tenants', 'resume', tenant.id, '--reason', 'to see')).toMatchObject({
      code: 1,
      out: '',
      err: 'tenant status cannot change that way\n',
    });
    expect(await statusOf(tenant)).toBe('pending');
  });

  it('needs a reason', async () => {
    const tenant = await app.signUp();
    for (const args of [[], ['--reason', ' ']]) {
      expect(await admin('tenants', 'delete', tenant.id, ...args)).toMatchObject({ code: 2, out: '' });
    }
    expect(await statusOf(tenant)).toBe('pending');
  });
});

describe('tenants exempt', () => {
  it('exempts a tenant, and ends that', async () => {
    const tenant = await app.paidTenant();
    const report = async () => {
      const body = { records: [usageRecord()] };
      return (await app.request('POST', '/v1/usage', { key: tenant.relayKey, body })).json;
    };
    expect(await admin('tenants', 'exempt', tenant.id)).toMatchObject({
      code: 0,
      out: `${tenant.id} is exempt\n`,
    });
    expect(await report()).toMatchObject({ charged: 0, unbilled: 1 });
    const ended = await admin('tenants', 'exempt', tenant.id, '--off', '--json');
    expect(ended).toMatchObject({ code: 0, json: { id: tenant.id, exempt: false } });
    expect(await report()).toMatchObject({ charged: 1, unbilled: 0 });
  });
});

describe('an unknown tenant', () => {
  const NOBODY = 't_00000000000000ff';

  it.each([
    [['tenants', 'show', NOBODY]],
    [['tenants', 'suspend', NOBODY, '--reason', 'to see']],
    [['credit', 'adjust', NOBODY, '1', '--reason', 'to see']],
    [['top-ups', 'unfreeze', NOBODY]],
    [['usage', 'conflicts', NOBODY]],
  ])('is not found by %s', async (args) => {
    expect(await admin(...args)).toMatchObject({ code: 1, out: '', err: 'tenant not found\n' });
  });

  it.each(['t_00000000000000FF', '*'])('cannot be named %s', async (id) => {
    expect(await admin('tenants', 'show', id)).toMatchObject({ code: 2, out: '' });
  });
});
