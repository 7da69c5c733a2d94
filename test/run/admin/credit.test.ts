import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { displayMicros } from '../../../src/money/amount.ts';
import { parseDollars } from '../../../src/run/admin/arguments.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { runAdmin, spawnAdmin } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const env = () => ({ DATABASE_URL: db().options.connectionString! });
const admin = (...args: string[]) => runAdmin(env(), ...args);

async function entriesOf(tenant: TestTenant) {
  const answer = await app.request('GET', '/v1/billing', { key: tenant.key });
  return { balance: answer.json.balance.micros, recent: answer.json.recent };
}

describe('credit adjust', () => {
  it('adds and removes credit, each with a ledger entry and its reason', async () => {
    const tenant = await app.paidTenant({ cents: 1000 });
    expect(await admin('credit', 'adjust', tenant.id, '12.50', '--reason', 'an outage in May')).toMatchObject(
      {
        code: 0,
        out: 'posted $12.500000; the balance was $10.000000, and is $22.500000\n',
        err: '',
      },
    );
    const back = await admin(
      'credit',
      'adjust',
      tenant.id,
      '-3',
      '--reason',
      'too much',
      '--id',
      'case-7',
      '--json',
    );
    expect(back).toMatchObject({
      code: 0,
      json: {
        tenant: tenant.id,
        posted: true,
        amount: { micros: -3_000_000 },
        before: { micros: 22_500_000 },
        balance: { micros: 19_500_000 },
      },
    });
    const { balance, recent } = await entriesOf(tenant);
    expect(balance).toBe(19_500_000);
    expect(recent).toMatchObject([
      { kind: 'adjustment', amount: { micros: -3_000_000 }, reference: 'case-7', detail: 'too much' },
      { kind: 'adjustment', amount: { micros: 12_500_000 }, reference: '', detail: 'an outage in May' },
      { kind: 'top_up', amount: { micros: 10_000_000 } },
    ]);
  });

  it('takes a balance below zero only if it is allowed', async () => {
    const tenant = await app.signUp();
    const args = ['credit', 'adjust', tenant.id, '-0.000001', '--reason', 'the least there is'];
    expect(await admin(...args)).toMatchObject({
      code: 1,
      out: '',
      err: 'invalid request: the balance would go from $0.000000 to -$0.000001: allow a negative balance (--allow-negative)\n',
    });
    expect(await admin(...args, '--allow-negative')).toMatchObject({
      code: 0,
      out: 'posted -$0.000001; the balance was $0.000000, and is -$0.000001\n',
    });
  });

  it('posts a large amount only if it is given twice', async () => {
    const tenant = await app.signUp();
    const args = ['credit', 'adjust', tenant.id, '1000.000001', '--reason', 'a large gift'];
    const err =
      'invalid request: $1000.000001 is beyond $1000.000000: confirm it by the same amount (--confirm)\n';
    expect(await admin(...args)).toMatchObject({ code: 1, out: '', err });
    expect(await admin(...args, '--confirm', '1000')).toMatchObject({ code: 1, out: '', err });
    expect((await entriesOf(tenant)).balance).toBe(0);
    expect(await admin(...args, '--confirm', '1000.000001')).toMatchObject({ code: 0 });
    expect((await entriesOf(tenant)).balance).toBe(1_000_000_001);
  });

  it('posts once for the same id, even concurrently', async () => {
    const tenant = await app.signUp();
    const args = ['credit', 'adjust', tenant.id, '5', '--reason', 'a gift', '--id', 'gift', '--json'];
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => spawnAdmin(env(), ...args)));
    expect(outcomes.map((each) => each.code)).toEqual([0, 0, 0]);
    expect(outcomes.map((each) => each.json.posted).sort()).toEqual([false, false, true]);
    expect((await entriesOf(tenant)).balance).toBe(5_000_000);

    const other = await admin('credit', 'adjust', tenant.id, '6', '--reason', 'a gift', '--id', 'gift');
    expect(other).toMatchObject({ code: 1, out: '' });
    expect(other.err).toBe('invalid request: this id was used for an adjustment of another amount\n');
    expect((await entriesOf(tenant)).balance).toBe(5_000_000);
  });

  it('scopes ids to a tenant', async () => {
    for (const tenant of [await app.signUp(), await app.signUp()]) {
      await admin('credit', 'adjust', tenant.id, '5', '--reason', 'a gift', '--id', 'gift');
      expect((await entriesOf(tenant)).balance).toBe(5_000_000);
    }
  });

  it.each(['1e3', '0', '--5'])('rejects the amount %s', async (text) => {
    const tenant = await app.signUp();
    expect(await admin('credit', 'adjust', tenant.id, text, '--reason', 'to see')).toMatchObject({
      code: 2,
      out: '',
    });
    const { rows } = await db().query('select 1 from postings where tenant_id = $1', [
      parseTenantId(tenant.id),
    ]);
    expect(rows).toEqual([]);
  });
});

describe('parseDollars', () => {
  it('parses displayed amounts exactly', () => {
    const micros = fc
      .bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n })
      .filter((each) => each !== 0n);
    fc.assert(fc.property(micros, (each) => parseDollars(displayMicros(each).replace('$', '')) === each));
  });

  it.each([
    ['12.5', 12_500_000n],
    ['-3', -3_000_000n],
    ['0.000001', 1n],
    ['-0.1', -100_000n],
    ['9007199254', undefined],
    ['999999999.999999', 999_999_999_999_999n],
    ['.5', undefined],
    ['5.', undefined],
    ['+5', undefined],
    ['5,00', undefined],
    ['', undefined],
    ['-0', undefined],
    ['0.00', undefined],
    ['1e3', undefined],
    ['$5', undefined],
    ['1.0000001', undefined],
    ['٣', undefined],
  ])('reads %j', (text, micros) => {
    if (micros === undefined) expect(() => parseDollars(text)).toThrow('It must be dollars');
    else expect(parseDollars(text)).toBe(micros);
  });
});

describe('credit grant, void and list', () => {
  it('grants once for an id, lists what is left, and takes it back', async () => {
    const tenant = await app.signUp();
    const args = ['credit', 'grant', tenant.id, '12.50', '--reason', 'a trial', '--expires', '2100-01-01'];
    const granted = await admin(...args, '--id', 'spring', '--json');
    expect(granted).toMatchObject({
      code: 0,
      json: {
        tenant: tenant.id,
        amount: { micros: 12_500_000 },
        expires_at: '2100-01-01T00:00:00.000Z',
        posted: true,
        balance: { micros: 12_500_000 },
      },
    });
    const { id } = granted.json;
    expect(await admin(...args, '--id', 'spring')).toMatchObject({
      code: 0,
      out: `nothing granted: ${id} was granted before; the balance is $12.500000\n`,
    });
    const listed = await admin('credit', 'list', tenant.id);
    expect(listed.out).toMatch(new RegExp(`^GRANT +STATE .*\n${id} +active +\\$12.500000 .* a trial\n$`));
    const taken = await admin('credit', 'void', tenant.id, id, '--reason', 'a slip');
    expect(taken).toMatchObject({
      code: 0,
      out: `took back $12.500000 of ${id}; the balance is $0.000000\n`,
    });
    expect(await admin('credit', 'void', tenant.id, id, '--reason', 'a slip')).toMatchObject({
      out: `nothing taken back: nothing is left of ${id}; the balance is $0.000000\n`,
    });
    const after = await admin('credit', 'list', tenant.id);
    expect(after.out).toMatch(
      /^GRANT .* LEFT +SPENT +FORFEITED .*\n.* voided +\$12\.500000 +\$0\.000000 +\$0\.000000 +\$12\.500000 /,
    );
    expect(
      await admin('credit', 'void', tenant.id, `gr_${'0'.repeat(32)}`, '--reason', 'a slip'),
    ).toMatchObject({
      code: 1,
      err: 'grant not found\n',
    });
    expect((await admin('credit', 'list', tenant.id, '--json')).json).toMatchObject({
      left: { micros: 0 },
      grants: [{ id, state: 'voided', forfeited: { micros: 12_500_000 } }],
    });
  });

  it.each([
    [['-1'], 1, 'amount must be more than $0'],
    [['0'], 2, 'It must be dollars other than 0'],
    [['9999999999'], 2, 'It must be dollars other than 0'],
    [['1', '--expires', '2020-01-01'], 1, 'expires must be 60 seconds ahead or more'],
    [['1', '--expires', 'soon'], 2, 'It must be a day or a time'],
    [['2000'], 1, 'confirm it by the same amount (--confirm)'],
  ] as const)('refuses %s', async (args, code, message) => {
    const tenant = await app.signUp();
    const refused = await admin('credit', 'grant', tenant.id, ...args, '--reason', 'test');
    expect(refused).toMatchObject({ code, err: expect.stringContaining(message) });
    expect((await admin('credit', 'list', tenant.id)).out).toBe('no grants\n');
  });
});
