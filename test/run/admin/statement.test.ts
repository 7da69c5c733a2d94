import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { monthOf, startOf } from '../../../src/money/month.ts';
import { monthsAgo, moveInTime, post } from '../../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { runAdmin, spawnAdmin } from './support.ts';

const app = useService({ issuerDetails: { name: 'Operator Ltd', address: [], taxId: 'GB2' } });
const MONTH = monthsAgo(2);
const folder = mkdtempSync(join(tmpdir(), 'boxoffice-statement-'));
let tenant: TestTenant;
let answer: string;

/** In a file. */
function keep(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

beforeAll(async () => {
  const { db } = app.service.deps;
  tenant = await app.signUp();
  const id = idOf(tenant);
  await post(db, id, { kind: 'top_up', amount: 20_000_000n, reference: 'pi_1', paymentId: 'pi_1' });
  const records = [usageRecord({ room: 'lobby', seconds: 3_600, egress_bytes: 2 ** 20 })];
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  const details = { address: ['Am Kai 1', 'Hamburg'], tax_id: 'DE1' };
  await app.request('PUT', '/v1/billing/details', { key: tenant.key, body: details });
  const start = startOf(MONTH).getTime();
  await moveInTime(
    db,
    id,
    [start, start + 1].map((time) => new Date(time).toISOString()),
  );
  answer = (await app.request('GET', `/v1/statements/${MONTH}`, { key: tenant.key })).text;
  keep('statement.json', answer);
  keep('keys.json', (await app.request('GET', '/.well-known/statement-keys.json')).text);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('admin statement verify', () => {
  /** Without a database. */
  const verify = (file: string, keys: string, ...more: string[]) =>
    runAdmin({}, 'statement', 'verify', file, '--keys', keys, ...more);
  const keys = join(folder, 'keys.json');

  test('says who signed what, with the keys of a file', async () => {
    const { code, out, err } = await verify(join(folder, 'statement.json'), keys);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n').map((line) => line.replace(/ {2,}/, ' '))).toEqual([
      'valid yes',
      expect.stringMatching(/^signed by [\w-]{43}$/),
      `tenant ${tenant.id}`,
      'name Ada Video',
      'address Am Kai 1; Hamburg',
      'tax id DE1',
      `month ${MONTH}`,
      `issuer ${app.service.deps.config.publicUrl}`,
      'issuer legal name Operator Ltd',
      'issuer tax id GB2',
      'opening $0.000000',
      'payments $20.000000',
      'reversals $0.000000',
      'adjustments $0.000000',
      'usage -$0.000020',
      'closing $19.999980',
      'unbilled $0.000000',
      expect.stringMatching(/^SHA-256 [0-9a-f]{64}$/),
      '',
    ]);
  });

  test('as a process of its own, by the keys at an address, and the signature alone', async () => {
    const { statement, jws } = JSON.parse(answer);
    const file = keep('statement.jws', `${jws}\n`);
    const address = `${app.url}/.well-known/statement-keys.json`;
    const { code, json, err } = await spawnAdmin(
      {},
      'statement',
      'verify',
      file,
      '--keys',
      address,
      '--json',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(json).toStrictEqual({
      valid: true,
      kid: expect.stringMatching(/^[\w-]{43}$/),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      statement,
    });
  });

  test.each<[string, (text: string) => string, string]>([
    [
      'an altered figure',
      (text) => text.replace('"micros":20000000', '"micros":20000001'),
      'the statement in the file is not the one that was signed',
    ],
    [
      'an altered signature',
      (text) =>
        text.replace(
          /"jws":"([^"]+)(.)([^"]{8})"/,
          (_all, head, byte, tail) => `"jws":"${head}${byte === 'A' ? 'B' : 'A'}${tail}"`,
        ),
      'the signature does not fit: it was altered, or signed by another key',
    ],
    [
      'no statement',
      () => '{"balance":1}',
      'it has no statement with a signature: members `statement` and `jws`',
    ],
    ['a page', () => '<!doctype html>', 'it is not a JWS'],
  ])('%s: exit code 1 and the reason', async (_what, change, reason) => {
    const text = change(answer);
    expect(text).not.toBe(answer);
    const file = keep('altered.json', text);
    expect(await verify(file, keys)).toMatchObject({ code: 1, out: '', err: `not valid: ${reason}\n` });
    expect(await verify(file, keys, '--json')).toMatchObject({ code: 1, json: { valid: false, reason } });
  });

  test('an unknown key', async () => {
    const none = keep('none.json', '{"keys":[]}');
    const { code, err } = await verify(join(folder, 'statement.json'), none);
    expect(code).toBe(1);
    expect(err).toMatch(/^not valid: the key "[\w-]{43}" is not among the keys\n$/);
  });

  test('keys that cannot be read', async () => {
    const file = join(folder, 'statement.json');
    for (const text of ['{}', '[]', 'x', '{"keys":[1]}']) {
      const wrong = keep('wrong.json', text);
      expect(await verify(file, wrong)).toMatchObject({
        code: 1,
        err: `${wrong} is no list of keys (a JSON Web Key Set)\n`,
      });
    }
    const missing = `${app.url}/nothing`;
    expect(await verify(file, missing)).toMatchObject({
      code: 1,
      err: `${missing} cannot be read: status 404\n`,
    });
    expect(await verify(file, 'http://127.0.0.1:1/')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/ cannot be read: /),
    });
    expect(await verify(join(folder, 'nothing.json'), keys)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^ENOENT/),
    });
    expect(await runAdmin({}, 'statement', 'verify', file)).toMatchObject({ code: 2 });
  });
});

describe('admin statement show', () => {
  const show = (...args: string[]) =>
    runAdmin(
      { DATABASE_URL: app.ownerUrl, ISSUER_NAME: 'Operator Ltd', ISSUER_TAX_ID: 'GB2' },
      'statement',
      'show',
      ...args,
    );

  test('prints what the tenant sees', async () => {
    const { code, out } = await show(tenant.id, MONTH);
    expect(code).toBe(0);
    expect(out).toMatch(/^closing +\$19\.999980$/m);
    expect(out).toMatch(/^PAYMENTS +KIND +AMOUNT +REFERENCE +OF PAYMENT$/m);
    expect(out).toMatch(new RegExp(`^${MONTH}-01T00:00:00\\.000Z +top_up +\\$20\\.000000 +pi_1 +-$`, 'm'));
    expect(out).toMatch(/^ROOM +RECORDS +SECONDS +BYTES SENT +COST +UNBILLED$/m);
    expect(out).toMatch(/^lobby +1 +3600 +1048576 +\$0\.000020 +\$0\.000000$/m);
    expect(out).not.toMatch(/^REVERSALS/m);
  });

  test('prints the same document as JSON', async () => {
    const { json } = await show(tenant.id, MONTH, '--json');
    const { statement } = JSON.parse(answer);
    expect({ ...json, iss: statement.iss }).toEqual(statement);
  });

  test('refuses what the interface refuses', async () => {
    const now = monthOf(new Date());
    expect(await show(tenant.id, now)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`the statement of ${now} is there from `),
    });
    expect(await show(tenant.id, '2019-12')).toMatchObject({ code: 1, err: 'statement not found\n' });
    expect(await show('t_0000000000000001', MONTH)).toMatchObject({ code: 1, err: 'tenant not found\n' });
    expect(await show(tenant.id, '2026-13')).toMatchObject({ code: 2 });
  });
});
