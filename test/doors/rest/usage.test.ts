import { beforeAll, describe, expect, test } from 'vitest';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { amount, expectError, expectOk, NOT_INTEGERS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 1_000_000 });
});

const post = (body: unknown, key = tenant.relayKey) => app.request('POST', '/v1/usage', { key, body });
const report = (...records: unknown[]) => post({ records });
const reportOne = (fields: Record<string, unknown>) => report(usageRecord(fields));
const recent = async (key = tenant.key) => (await app.request('GET', '/v1/billing', { key })).json.recent;
const without = (field: string) => {
  const record = usageRecord();
  delete record[field];
  return record;
};

const CHARGED_ONE = { charged: 1, duplicates: 0, unbilled: 0 };
/** 50,000,000 bytes at 0.02 dollars a GiB are 931.3 micros: the carry makes it 931 or 932. */
const MINUTE_MICROS = [931, 932];

describe('POST /v1/usage', () => {
  describe('200', () => {
    test('answers with five fields and no more', async () => {
      const body = expectOk(await reportOne({}));
      expect(Object.keys(body).sort()).toStrictEqual([
        'admitted',
        'charged',
        'duplicates',
        'total',
        'unbilled',
      ]);
      expect(body).toMatchObject({ ...CHARGED_ONE, admitted: true });
      expect(MINUTE_MICROS).toContain(body.total.micros);
      expect(body.total).toStrictEqual(amount(body.total.micros));
    });

    test('takes an empty batch, so that an idle relay gets `admitted`', async () => {
      expect(expectOk(await report())).toStrictEqual({
        charged: 0,
        duplicates: 0,
        unbilled: 0,
        total: amount(0),
        admitted: true,
      });
    });

    test.each([
      ['id of 1 character', { id: 'x' }],
      ['id of 200 characters', { id: 'i'.repeat(200) }],
      ['id of 200 emoji, which are 400 code units and 800 bytes', { id: '😀'.repeat(200) }],
      ['seconds 0', { seconds: 0 }],
      ['seconds 1', { seconds: 1 }],
      ['seconds 86400', { seconds: 86_400 }],
      ['no bytes at all', { egress_bytes: 0, ingress_bytes: 0 }],
      ['1 byte each', { egress_bytes: 1, ingress_bytes: 1 }],
      ['as many bytes as JSON can say', { egress_bytes: 2 ** 53 - 1, ingress_bytes: 2 ** 53 - 1 }],
      ['an empty room and participant', { room: '', participant: '' }],
      ['a room and participant of 200 characters', { room: 'r'.repeat(200), participant: 'p'.repeat(200) }],
      ['a room and participant of 200 emoji', { room: '😀'.repeat(200), participant: '🎥'.repeat(200) }],
    ])('accepts %s', async (_what, fields) => {
      expect(expectOk(await reportOne(fields))).toMatchObject(CHARGED_ONE);
    });

    test.each(['host', 'audience', 'broadcast_audience'])(
      'accepts the role %s in every tier',
      async (role) => {
        const tiers = ['audio', 'hd', 'full_hd', '2k', '2k_plus'];
        const body = expectOk(await report(...tiers.map((tier) => usageRecord({ role, tier }))));
        expect(body).toMatchObject({ charged: 5 });
      },
    );

    test.each(['1e3', '10E2', '1000.0', '1000.000', '1000', '100000e-2'])(
      'reads %s as an integer',
      async (number) => {
        const record = JSON.stringify(usageRecord({ seconds: 7777 })).replace('7777', number);
        const raw = `{"records":[${record}]}`;
        expect(expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, raw }))).toMatchObject(
          CHARGED_ONE,
        );
      },
    );

    test('accepts the tenant of the key by name', async () => {
      expect(expectOk(await reportOne({ tenant: tenant.id }))).toMatchObject(CHARGED_ONE);
    });

    test('charges 5000 records at once', async () => {
      const body = expectOk(await report(...Array.from({ length: 5000 }, () => usageRecord())));
      expect(body).toMatchObject({ charged: 5000, duplicates: 0, unbilled: 0 });
    });

    test('charges an id once, whether repeated in the batch or in a later one', async () => {
      const record = usageRecord();
      expect(expectOk(await report(record, record, { ...record, seconds: 1 }))).toMatchObject({
        charged: 1,
        duplicates: 2,
        unbilled: 0,
      });
      expect(expectOk(await report(record))).toStrictEqual({
        charged: 0,
        duplicates: 1,
        unbilled: 0,
        total: amount(0),
        admitted: true,
      });
      expect(expectOk(await report({ ...record, egress_bytes: 1 }, usageRecord()))).toMatchObject({
        charged: 1,
        duplicates: 1,
      });
    });

    test('ids are opaque: composed and decomposed, upper and lower case, surrounding spaces make other ids', async () => {
      const ids = ['\u00e9', 'e\u0301', 'E\u0301', ' \u00e9', '\u00e9 ', '\u200b\u00e9'];
      expect(expectOk(await report(...ids.map((id) => usageRecord({ id }))))).toMatchObject({
        charged: ids.length,
      });
    });

    test('the same id of another tenant is another record', async () => {
      const other = await app.paidTenant();
      const record = usageRecord();
      expect(expectOk(await report(record))).toMatchObject(CHARGED_ONE);
      expect(expectOk(await post({ records: [record] }, other.relayKey))).toMatchObject(CHARGED_ONE);
    });

    test.each([
      "'; drop table postings; --",
      '\\N',
      '\\.',
      'a\tb\nc\rd\\e\bf\fg\vh',
      '{{7*7}} \x24{7*7} <%= 7*7 %> %s %n $1 $$',
      '<script>alert(1)</script>&amp;"\'',
      '😀👩‍👩‍👧‍👦 ٱلْعَرَبِيَّة \u202e\ufeff\uffff\u2028',
      'NULL',
      '{"a":1}',
      ' ',
    ])('keeps the text %j as it is', async (text) => {
      const fresh = await app.paidTenant();
      const body = { records: [usageRecord({ id: text, room: text, participant: text })] };
      expect(expectOk(await post(body, fresh.relayKey))).toMatchObject(CHARGED_ONE);
      expect((await recent(fresh.key))[0]).toMatchObject({ kind: 'usage', reference: text, detail: text });
      expect(expectOk(await post(body, fresh.relayKey))).toMatchObject({ charged: 0, duplicates: 1 });
    });

    test('appears in the ledger: with room and participant if given, capped if the ceiling was lower', async () => {
      const fresh = await app.paidTenant();
      await post(
        {
          records: [
            usageRecord({ room: 'lobby', participant: 'p1' }),
            usageRecord({ egress_bytes: 10 ** 9 }),
          ],
        },
        fresh.relayKey,
      );
      const [capped, named] = await recent(fresh.key);
      expect(named).toStrictEqual({
        kind: 'usage',
        amount: amount(-931),
        capped: false,
        reference: 'lobby',
        detail: 'p1',
        at: expect.stringMatching(TIMESTAMP),
      });
      expect(capped).toStrictEqual({
        kind: 'usage',
        amount: amount(-1500),
        capped: true,
        reference: '',
        at: expect.stringMatching(TIMESTAMP),
      });
    });

    test('a tenant that never paid is charged and not admitted', async () => {
      const poor = await app.signUp();
      expect(expectOk(await post({ records: [usageRecord()] }, poor.relayKey))).toMatchObject({
        charged: 1,
        admitted: false,
      });
    });

    test('with spent credit, usage is accepted: admitted is false', async () => {
      const fresh = await app.paidTenant({ cents: 1000 });
      const day = { role: 'host', tier: '2k_plus', seconds: 86_400, egress_bytes: 10 ** 15 };
      const first = expectOk(await post({ records: [usageRecord(day)] }, fresh.relayKey));
      expect(first).toMatchObject({ admitted: false, total: amount(17_280_000) });
      expect(expectOk(await post({ records: [usageRecord()] }, fresh.relayKey))).toMatchObject({
        charged: 1,
        admitted: false,
      });
    });

    test.each(['suspended', 'archived', 'deleted'] as const)(
      'a tenant that is %s is still charged',
      async (status) => {
        const fresh = await app.paidTenant();
        await setStatus(app, fresh, status);
        expect(expectOk(await post({ records: [usageRecord()] }, fresh.relayKey))).toMatchObject({
          charged: 1,
          admitted: false,
        });
        expect(expectOk(await post({ records: [] }, fresh.relayKey))).toMatchObject({ admitted: false });
      },
    );

    test('an exempt tenant is billed nothing, then or later, and stays admitted', async () => {
      const fresh = await app.paidTenant();
      const before = (await app.request('GET', '/v1/billing', { key: fresh.key })).json;
      const setExempt = (exempt: boolean) =>
        app.service.deps.db.query('update tenants set exempt = $2 where id = $1', [
          BigInt.asIntN(64, BigInt(`0x${fresh.id.slice(2)}`)),
          exempt,
        ]);
      await setExempt(true);
      const record = usageRecord();
      const unbilled = { charged: 0, duplicates: 0, unbilled: 1, total: amount(0), admitted: true };
      expect(expectOk(await post({ records: [record] }, fresh.relayKey))).toStrictEqual(unbilled);
      await setExempt(false);
      expect(expectOk(await post({ records: [record] }, fresh.relayKey))).toMatchObject({
        charged: 0,
        duplicates: 1,
      });
      const after = (await app.request('GET', '/v1/billing', { key: fresh.key })).json;
      expect(after).toStrictEqual(before);
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [[], 'body must be object'],
      ['records', 'body must be object'],
      [{}, 'records is required'],
      [{ records: null }, 'records must be array'],
      [{ records: {} }, 'records must be array'],
      [{ records: '[]' }, 'records must be array'],
      [{ records: [null] }, 'records/0 must be object'],
      [{ records: [[]] }, 'records/0 must be object'],
      [{ records: [], more: 1 }, 'more is not a known field'],
      [{ records: [], tenant: 't_0000000000000000' }, 'tenant is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await post(body), 400, `invalid request: ${what}`);
    });

    test.each(['id', 'role', 'tier', 'seconds', 'egress_bytes', 'ingress_bytes'])(
      'requires %s',
      async (field) => {
        expectError(
          await report(usageRecord(), without(field)),
          400,
          `invalid request: records/1/${field} is required`,
        );
      },
    );

    test.each([
      [{ id: '' }, 'id must not be empty'],
      [{ role: 'Host' }, 'role must be one of host, audience, broadcast_audience'],
      [{ role: '' }, 'role must be one of host, audience, broadcast_audience'],
      [{ tier: '4k' }, 'tier must be one of audio, hd, full_hd, 2k, 2k_plus'],
      [{ tier: '2K' }, 'tier must be one of audio, hd, full_hd, 2k, 2k_plus'],
      [{ seconds: -1 }, 'seconds must be >= 0'],
      [{ seconds: 86_401 }, 'seconds must be <= 86400'],
      [{ egress_bytes: -1 }, 'egress_bytes must be >= 0'],
      [{ ingress_bytes: -1 }, 'ingress_bytes must be >= 0'],
      [{ kind: 'usage' }, 'kind is not a known field'],
      [{ constructor: {} }, 'constructor is not a known field'],
    ])('refuses a record with %j', async (fields, what) => {
      expectError(
        await report(usageRecord(), usageRecord(fields)),
        400,
        `invalid request: records/1/${what}`,
      );
    });

    test.each(['i', 'é', '😀'])('refuses an id of 201 times %s', async (character) => {
      const answer = await reportOne({ id: character.repeat(201) });
      expectError(answer, 400, 'invalid request: records/0/id must not have more than 200 characters');
    });

    describe.each(['room', 'participant'])('%s', (field) => {
      test.each(['i', 'é', '😀'])(
        'refuses 201 times %s, and charges nothing of the batch',
        async (character) => {
          const fine = usageRecord();
          const answer = await report(fine, usageRecord({ [field]: character.repeat(201) }));
          const what = `records/1/${field} must not have more than 200 characters`;
          expectError(answer, 400, `invalid request: ${what}`);
          expect(expectOk(await report(fine))).toMatchObject({ charged: 1, duplicates: 0 });
        },
      );
    });

    describe.each(['id', 'tenant', 'room', 'participant', 'role', 'tier'])('%s', (field) => {
      test.each(NOT_STRINGS)('refuses %j', async (value) => {
        expectError(
          await reportOne({ [field]: value }),
          400,
          `invalid request: records/0/${field} must be string`,
        );
      });
    });

    describe.each(['seconds', 'egress_bytes', 'ingress_bytes'])('%s', (field) => {
      test.each(NOT_INTEGERS)('refuses %j', async (value) => {
        expectError(
          await reportOne({ [field]: value }),
          400,
          `invalid request: records/0/${field} must be integer`,
        );
      });

      test.each([
        '9007199254740992',
        '9007199254740993',
        '1e16',
        '1e400',
        '-1e400',
        '1e-400',
        '123456789012345678901234567890',
      ])('refuses %s, which a double cannot hold exactly', async (number) => {
        const record = JSON.stringify(usageRecord({ [field]: 7777 })).replace('7777', number);
        const answer = await app.request('POST', '/v1/usage', {
          key: tenant.relayKey,
          raw: `{"records":[${record}]}`,
        });
        expect(answer.status).toBe(400);
        expect(answer.json.error).toMatch(/^invalid request: (the|a) number .*is out of range$/);
      });
    });

    test.each(['t_0000000000000000', '', 'T_', 't_0'])(
      'refuses the tenant %j, which is not that of the key',
      async (other) => {
        expectError(
          await report(usageRecord(), usageRecord({ tenant: other })),
          400,
          'invalid request: records/1/tenant must be the tenant of the key',
        );
      },
    );

    test('refuses 5001 records', async () => {
      const records = Array.from({ length: 5001 }, () => usageRecord());
      expectError(
        await post({ records }),
        400,
        'invalid request: records must not have more than 5000 items',
      );
    });

    test('one bad record is enough: nothing of the batch is charged', async () => {
      const good = usageRecord();
      const before = (await app.request('GET', '/v1/billing', { key: tenant.key })).json;
      expectError(
        await report(good, usageRecord({ seconds: -1 })),
        400,
        'invalid request: records/1/seconds must be >= 0',
      );
      expectError(
        await report(good, usageRecord({ tenant: 't_0000000000000000' })),
        400,
        'invalid request: records/1/tenant must be the tenant of the key',
      );
      expect((await app.request('GET', '/v1/billing', { key: tenant.key })).json).toStrictEqual(before);
      expect(expectOk(await report(good))).toMatchObject(CHARGED_ONE);
    });

    test('a body of 1 MiB is read, one of a byte more is not', async () => {
      const batch = JSON.stringify({ records: [usageRecord()] });
      const padded = (size: number) => batch.padEnd(size, ' ');
      const send = (raw: string) => app.request('POST', '/v1/usage', { key: tenant.relayKey, raw });
      expectOk(await send(padded(2 ** 20)));
      expectError(await send(padded(2 ** 20 + 1)), 400, 'invalid request: body exceeds 1 MiB');
    });

    test('comes before the status of the tenant', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'deleted');
      expectError(await post({}, fresh.relayKey), 400, 'invalid request: records is required');
    });
  });

  describe('401', () => {
    test('refuses a backend key, even of the same tenant', async () => {
      expectError(await post({ records: [] }, tenant.key), 401, 'invalid api key');
    });

    test('refuses a caller without a key before it reads the body', async () => {
      expectError(await app.request('POST', '/v1/usage', { raw: '{' }), 401, 'invalid api key');
      expectError(
        await app.request('POST', '/v1/usage', { raw: 'x'.repeat(2 ** 20 + 1) }),
        401,
        'invalid api key',
      );
    });
  });

  test('equal concurrent batches charge each id once', async () => {
    const fresh = await app.paidTenant();
    const { url } = await app.another();
    const records = Array.from({ length: 50 }, () => usageRecord());
    const send = (to: string) => ask(`${to}/v1/usage`, 'POST', { key: fresh.relayKey, body: { records } });
    const sent = await Promise.all(Array.from({ length: 12 }, (_, at) => send(at % 2 ? url : app.url)));
    const answers = sent.map((answer) => expectOk(answer));
    const charged = answers.map((answer) => answer.charged).sort((a, b) => a - b);
    expect(charged).toStrictEqual([...Array(11).fill(0), 50]);
    expect(answers.every((answer) => answer.charged + answer.duplicates === 50)).toBe(true);
  });
});
