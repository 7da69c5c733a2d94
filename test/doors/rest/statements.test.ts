import { Writable } from 'node:stream';
import { compactVerify, createLocalJWKSet } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson, parseExactJson } from '../../../src/base/lib/canonical-json.ts';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { endOf, monthOf, startOf } from '../../../src/money/month.ts';
import { readyAt } from '../../../src/money/statements/statement.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { amount, expectError, expectOk, setStatus } from './support.ts';

const logged: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    logged.push(String(chunk));
    done();
  },
});
const app = useService({ log: makeLog('error', sink) });
const [MONTH, LATER] = [monthsAgo(3), monthsAgo(2)];
const [START, END] = [startOf(MONTH), endOf(MONTH)];
let tenant: TestTenant;

const read = (path: string, { key = tenant.key, accept }: { key?: string; accept?: string } = {}) =>
  app.request('GET', path, { key, headers: accept === undefined ? {} : { accept } });
const statementOf = (month: string, accept?: string) =>
  read(`/v1/statements/${month}`, accept === undefined ? {} : { accept });

/** Each GiB is two cents, and a charge of any length is below its ceiling here. */
async function charge(to: TestTenant, room: string, gib: number): Promise<number> {
  const records = [usageRecord({ room, seconds: 86_400, egress_bytes: gib * 2 ** 30, ingress_bytes: 7 })];
  return (await app.request('POST', '/v1/usage', { key: to.relayKey, body: { records } })).json.total.micros;
}

/** A payment, usage in two rooms, unbilled usage, an adjustment; and in the month after it a refund. */
async function makeLedger(): Promise<TestTenant> {
  const { db } = app.service.deps;
  const made = await app.signUp({ name: 'Ada <b>Video</b>' });
  const id = idOf(made);
  await post(db, id, { kind: 'top_up', amount: 20_000_000n, reference: 'pi_1', paymentId: 'pi_1' });
  expect(await charge(made, '=lobby', 1)).toBe(20_000);
  expect(await charge(made, 'stage', 2)).toBe(40_000);
  await setExempt(db, OPERATOR, id, true);
  await charge(made, 'stage', 4);
  await setExempt(db, OPERATOR, id, false);
  await post(db, id, { kind: 'adjustment', amount: -5n, detail: 'a correction' });
  await post(db, id, { kind: 'refund', amount: -1_000_000n, reference: 're_1', paymentId: 'pi_1' });
  const times = [0, 1, 2, 3, 4].map((minute) => new Date(START.getTime() + minute * 60_000).toISOString());
  await moveInTime(db, id, [...times, END.toISOString()]);
  return made;
}

beforeAll(async () => {
  tenant = await makeLedger();
});

describe('GET /v1/statements/{month}', () => {
  test('200: the account of the month', async () => {
    const { statement } = expectOk(await statementOf(MONTH));
    const none = { entries: [], sum: amount(0) };
    expect(statement).toStrictEqual({
      version: 1,
      iss: app.service.deps.config.publicUrl,
      tenant: { id: tenant.id, name: 'Ada <b>Video</b>' },
      month: MONTH,
      from: START.toISOString(),
      to: END.toISOString(),
      currency: 'usd',
      opening: amount(0),
      payments: {
        entries: [{ at: START.toISOString(), kind: 'top_up', amount: amount(20_000_000), reference: 'pi_1' }],
        sum: amount(20_000_000),
      },
      reversals: none,
      adjustments: {
        entries: [
          {
            at: new Date(START.getTime() + 240_000).toISOString(),
            kind: 'adjustment',
            amount: amount(-5),
            detail: 'a correction',
          },
        ],
        sum: amount(-5),
      },
      usage: {
        rooms: [
          {
            room: 'stage',
            records: 2,
            seconds: 172_800,
            egress_bytes: 6 * 2 ** 30,
            ingress_bytes: 14,
            total: amount(40_000),
            unbilled: amount(80_000),
          },
          {
            room: '=lobby',
            records: 1,
            seconds: 86_400,
            egress_bytes: 2 ** 30,
            ingress_bytes: 7,
            total: amount(20_000),
            unbilled: amount(0),
          },
        ],
        sum: {
          records: 3,
          seconds: 259_200,
          egress_bytes: 7 * 2 ** 30,
          ingress_bytes: 21,
          total: amount(60_000),
          unbilled: amount(80_000),
        },
      },
      closing: amount(19_939_995),
    });
    const next = expectOk(await statementOf(LATER)).statement;
    expect([next.opening, next.reversals.sum, next.closing]).toEqual([
      amount(19_939_995),
      amount(-1_000_000),
      amount(18_939_995),
    ]);
    expect(next.reversals.entries[0].payment).toBe('pi_1');
    const earlier = expectOk(await statementOf(monthsAgo(4))).statement;
    expect([earlier.opening, earlier.usage.rooms, earlier.closing]).toEqual([amount(0), [], amount(0)]);
  });

  test('200: what it signs is what it shows', async () => {
    const answer = await statementOf(MONTH);
    const { jws } = expectOk(answer);
    const keys = (await app.request('GET', '/.well-known/statement-keys.json')).json;
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(keys));
    expect(protectedHeader.typ).toBe('statement+jwt');
    const { statement } = parseExactJson(answer.text) as { statement: unknown };
    expect(Buffer.from(payload).toString()).toBe(canonicalJson(statement));
  });

  test('200: as CSV, whose lines add up, and in which no name is a formula', async () => {
    const answer = await statementOf(MONTH, 'text/csv');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="statement-${MONTH}.csv"`);
    const at = (minute: number) => new Date(START.getTime() + minute * 60_000).toISOString();
    expect(answer.text.split('\r\n')).toEqual([
      'line,at,kind,reference,payment,detail,room,records,seconds,egress_bytes,ingress_bytes,micros,dollars,unbilled_micros',
      'opening,,,,,,,,,,,0,0.000000,',
      `payment,${at(0)},top_up,pi_1,,,,,,,,20000000,20.000000,`,
      `adjustment,${at(4)},adjustment,,,a correction,,,,,,-5,-0.000005,`,
      'usage,,,,,,stage,2,172800,6442450944,14,-40000,-0.040000,80000',
      `usage,,,,,,'=lobby,1,86400,1073741824,7,-20000,-0.020000,0`,
      'closing,,,,,,,,,,,19939995,19.939995,',
      '',
    ]);
  });

  test('200: as a page that loads and runs nothing', async () => {
    const answer = await statementOf(MONTH, 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(answer.text).toContain('Ada &lt;b&gt;Video&lt;/b&gt;');
    expect(answer.text).not.toMatch(
      /<script|<b>|\bon\w+=|\bstyle=|https?:\/\/(?!127\.0\.0\.1|service\.test)/,
    );
  });

  test.each(['application/json', '*/*', 'image/png', 'application/json, text/csv'])(
    '200: JSON for Accept %s',
    async (accept) => {
      expectOk(await statementOf(MONTH, accept));
    },
  );

  test.each(['2026-13', '2026-00', '0000-01', '2026-1', '202610', 'x', '2026-10.csv', '%00'])(
    '400: %s is no month',
    async (month) => {
      expectError(await statementOf(month), 400, 'invalid request: month must be a month such as 2026-10');
    },
  );

  test('400: a month in the future', async () => {
    for (const month of [monthsAgo(-1), '9999-12']) {
      expectError(await statementOf(month), 400, 'invalid request: month must not be in the future');
    }
  });

  test('401: no key, or that of a relay', async () => {
    expectError(await app.request('GET', `/v1/statements/${MONTH}`), 401, 'invalid api key');
    expectError(await read(`/v1/statements/${MONTH}`, { key: tenant.relayKey }), 401, 'invalid api key');
  });

  test.each(['suspended', 'archived', 'deleted'] as const)('403: the tenant is %s', async (status) => {
    const made = await app.signUp();
    await setStatus(app, made, status);
    expectError(await read(`/v1/statements/${MONTH}`, { key: made.key }), 403, 'tenant is not active');
    expectError(await read('/v1/statements', { key: made.key }), 403, 'tenant is not active');
  });

  test('404: a month before the signup; the month of the signup has one', async () => {
    const made = await app.signUp();
    const signUpAt = (at: Date) =>
      app.service.deps.db.query('update tenants set created_at = $2 where id = $1', [idOf(made), at]);
    await signUpAt(END);
    expectError(await read(`/v1/statements/${MONTH}`, { key: made.key }), 404, 'not found');
    await signUpAt(new Date(END.getTime() - 1));
    const { statement } = expectOk(await read(`/v1/statements/${MONTH}`, { key: made.key }));
    expect([statement.opening, statement.closing]).toEqual([amount(0), amount(0)]);
  });

  test('409: a month that is not over, with the time from which on it is there', async () => {
    const month = monthOf(new Date());
    expectError(
      await statementOf(month),
      409,
      `the statement of ${month} is there from ${readyAt(endOf(month)).toISOString()} on`,
    );
  });

  test('200 with so_far: the month up to now, unsigned', async () => {
    const made = await app.paidTenant({ cents: 1000 });
    await charge(made, 'stage', 3);
    const month = monthOf(new Date());
    const answer = await read(`/v1/statements/${month}?so_far=true`, { key: made.key });
    expect(expectOk(answer)).toStrictEqual({ statement: expect.objectContaining({ so_far: true, month }) });
    expect(answer.json.statement).toMatchObject({
      opening: amount(0),
      payments: { sum: amount(10_000_000) },
      usage: { sum: { total: amount(60_000) } },
      closing: amount(9_940_000),
    });
    const page = await read(`/v1/statements/${month}?so_far=true`, { key: made.key, accept: 'text/html' });
    expect(page.text).toContain('is not over, so these figures still change, and they are not signed.');
    expect(page.text).not.toContain('SHA-256');
    const over = expectOk(await read(`/v1/statements/${MONTH}?so_far=true`));
    expect(over).toStrictEqual({ ...expectOk(await statementOf(MONTH)), jws: over.jws });
    expect(over.jws).toMatch(/^ey/);
  });

  test('400: so_far is true or left out', async () => {
    expectError(
      await read(`/v1/statements/${MONTH}?so_far=yes`),
      400,
      'invalid request: so_far must be true',
    );
  });

  test('500: it does not add up; the log says where', async () => {
    const made = await makeLedger();
    await app.service.deps.db.query(
      `update usage_deltas set sums = jsonb_set(sums::jsonb, '{0,7}', '20001') where tenant_id = $1 and seq = 2`,
      [idOf(made)],
    );
    await app.service.deps.db.query(
      `update usage_room_hours set amount = amount + 1 where tenant_id = $1 and room = '=lobby'`,
      [idOf(made)],
    );
    logged.length = 0;
    for (const accept of ['application/json', 'text/csv', 'text/html']) {
      const answer = await read(`/v1/statements/${MONTH}`, { key: made.key, accept });
      expectError(answer, 500, 'internal error');
    }
    expect(logged).toHaveLength(3);
    expect(logged[0]).toContain(
      `the statement of ${made.id} for ${MONTH}: the closing balance is $19.939994 by the entries, and $19.939995 by the statement`,
    );
  });
});

describe('GET /v1/statements', () => {
  test('200: the months with entries, the newest first', async () => {
    expect(expectOk(await read('/v1/statements'))).toStrictEqual({
      statements: [
        { month: LATER, opening: amount(19_939_995), closing: amount(18_939_995) },
        { month: MONTH, opening: amount(0), closing: amount(19_939_995) },
      ],
    });
  });

  test('200: none before a month is over', async () => {
    const made = await app.paidTenant();
    expect(expectOk(await read('/v1/statements', { key: made.key }))).toStrictEqual({ statements: [] });
  });

  test('200: months without entries are left out', async () => {
    const made = await app.signUp();
    const id = idOf(made);
    const { db } = app.service.deps;
    for (const size of [1n, 2n, 3n]) await post(db, id, { kind: 'adjustment', amount: size });
    const times = [14, 3, 0].map((ago) => startOf(monthsAgo(ago)).toISOString());
    await moveInTime(db, id, times);
    expect(expectOk(await read('/v1/statements', { key: made.key })).statements).toStrictEqual([
      { month: monthsAgo(3), opening: amount(1), closing: amount(3) },
      { month: monthsAgo(14), opening: amount(0), closing: amount(1) },
    ]);
  });

  test('401: no key', async () => {
    expectError(await app.request('GET', '/v1/statements'), 401, 'invalid api key');
  });
});

describe('GET /.well-known/statement-keys.json', () => {
  test('200: public, and may be cached for five minutes', async () => {
    const answer = await app.request('GET', '/.well-known/statement-keys.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.json).toStrictEqual((await app.request('GET', '/.well-known/jwks.json')).json);
    expect(answer.json.keys).toHaveLength(1);
  });

  test('200: also the keys that relays do not accept any more', async () => {
    const { db } = app.service.deps;
    const { kid } = (await app.request('GET', '/.well-known/jwks.json')).json.keys[0];
    await db.query(
      `insert into signing_keys (kid, alg, public_key, state, activated_at, remove_at, removed_at)
       select repeat('A', 43), alg, jsonb_set(public_key, '{kid}', to_jsonb(repeat('A', 43))), 'removed',
              now(), now(), now() from signing_keys where kid = $1`,
      [kid],
    );
    const kids = (path: string) =>
      app.request('GET', path).then(({ json }) => json.keys.map((key: { kid: string }) => key.kid));
    expect((await kids('/.well-known/statement-keys.json')).sort()).toEqual([kid, 'A'.repeat(43)].sort());
    expect(await kids('/.well-known/jwks.json')).toEqual([kid]);
  });
});
