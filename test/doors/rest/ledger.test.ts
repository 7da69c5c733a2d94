import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { adjust, manyRecords, report, setExempt } from './ledger-routes.ts';
import { amount, expectCommonHeaders, expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;
let other: TestTenant;
/** The ids of charged records, in the order of charging. */
let charged: string[];

interface Entry {
  readonly kind: string;
  readonly amount: { micros: number };
  readonly reference: string;
  readonly detail?: string;
  readonly id?: string;
  readonly payment?: string;
  readonly posting_seq: number;
  readonly balance_after: { micros: number };
}

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 5000 });
  other = await app.paidTenant();
  const batches = [manyRecords(3), manyRecords(60), manyRecords(1), manyRecords(130), manyRecords(50)];
  for (const [at, batch] of batches.entries()) {
    await report(app, tenant, batch);
    await report(app, other, manyRecords(70));
    if (at % 2 === 0) await adjust(app, tenant, BigInt(at - 2));
  }
  await setExempt(app, tenant, true);
  await report(app, tenant, manyRecords(80));
  await setExempt(app, tenant, false);
  await app.pay(tenant, { cents: 1000 });
  charged = batches.flat().map(({ id }) => id as string);
});

const list = (query = '', of = tenant) => app.request('GET', `/v1/ledger${query}`, { key: of.key });

async function listAll(query: Record<string, string> = {}, of = tenant): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const parameters = new URLSearchParams({ ...query, ...(cursor && { cursor }) });
    const page = expectOk(await list(`?${parameters}`, of));
    entries.push(...page.entries);
    cursor = page.next_cursor;
  } while (cursor);
  return entries;
}

async function balanceOf(of: TestTenant): Promise<number> {
  return expectOk(await app.request('GET', '/v1/billing', { key: of.key })).balance.micros;
}

const sumOf = (entries: readonly Entry[]) => entries.reduce((sum, entry) => sum + entry.amount.micros, 0);

describe('GET /v1/ledger', () => {
  test.each(['1', '7', '100', '1000'])('lists every entry once, newest first, %s at once', async (limit) => {
    const entries = await listAll({ limit });
    expect(entries.filter(({ kind }) => kind === 'usage').map(({ id }) => id)).toStrictEqual(
      charged.toReversed(),
    );
    expect(entries).toHaveLength(charged.length + 3 + 2);
    expect(sumOf(entries)).toBe(await balanceOf(tenant));
  });

  test('begins with what GET /v1/billing shows as recent', async () => {
    const { recent } = expectOk(await app.request('GET', '/v1/billing', { key: tenant.key }));
    const { entries } = expectOk(await list('?limit=50'));
    const specified = ({ id, payment, posting_seq, balance_after, ...entry }: Entry) => entry;
    expect(entries.map(specified)).toStrictEqual(recent);
  });

  test('shows an entry with the id of its record', async () => {
    const [entry] = await listAll({ kind: 'usage', limit: '1' });
    expect(entry).toStrictEqual({
      kind: 'usage',
      amount: amount(entry!.amount.micros),
      capped: expect.any(Boolean),
      reference: expect.any(String),
      detail: expect.stringMatching(/^user-\d$/),
      at: expect.stringMatching(TIMESTAMP),
      id: charged.at(-1),
      posting_seq: expect.any(Number),
      balance_after: amount(entry!.balance_after.micros),
    });
  });

  test('shows the balance after each posting: what its entries add up to, on top of the posting before', async () => {
    for (const limit of ['1000', '7']) {
      const entries = (await listAll({ limit })).toReversed();
      const seqs = [...new Set(entries.map(({ posting_seq }) => posting_seq))];
      expect(seqs).toStrictEqual(seqs.toSorted((a, b) => a - b));
      let balance = 0;
      for (const seq of seqs) {
        const of = entries.filter(({ posting_seq }) => posting_seq === seq);
        balance += sumOf(of);
        expect(new Set(of.map(({ balance_after }) => balance_after.micros))).toStrictEqual(
          new Set([balance]),
        );
      }
      expect(balance).toBe(await balanceOf(tenant));
      expect(entries.at(-1)!.balance_after).toStrictEqual(amount(balance));
    }
  });

  test('names the number that the explanation of a record names', async () => {
    const [entry] = await listAll({ kind: 'usage', limit: '1' });
    const { posting } = expectOk(
      await app.request('GET', `/v1/usage/${entry!.id}/explain`, { key: tenant.key }),
    );
    expect(posting.seq).toBe(entry!.posting_seq);
  });

  test('names the payment of a refund and of a dispute, and gives a payment the time that every view has', async () => {
    const of = await app.paidTenant();
    const [paid] = await listAll({}, of);
    expect(paid).toMatchObject({ kind: 'top_up', reference: paid!.payment });
    app.sandbox.control.refund(paid!.payment!, { amount: 300 });
    await app.settled();
    const dispute = app.sandbox.control.dispute(paid!.payment!);
    await app.settled();
    const [taken, refunded] = await listAll({ kind: 'refund,dispute' }, of);
    expect([refunded!.kind, refunded!.payment]).toStrictEqual(['refund', paid!.payment]);
    expect([taken!.kind, taken!.payment, taken!.reference]).toStrictEqual([
      'dispute',
      paid!.payment,
      dispute.id,
    ]);
    expect(refunded!.reference).toMatch(/^re_/);
    const { payments } = expectOk(await app.request('GET', '/v1/payments', { key: of.key }));
    expect(payments.map(({ at }: { at: string }) => at)).toStrictEqual([
      (paid as unknown as { at: string }).at,
    ]);
    const { rows } = await app.service.deps.db.query(
      `select p.settled_at = b.at as same from payments p join postings b on b.payment_id = p.id and b.kind = p.kind
        where p.id = $1`,
      [paid!.payment],
    );
    expect(rows).toStrictEqual([{ same: true }]);
  });

  test('is empty for a new tenant', async () => {
    expect(expectOk(await list('', await app.signUp()))).toStrictEqual({ entries: [] });
  });

  describe('filters', () => {
    test('by kind', async () => {
      const all = await listAll();
      for (const kind of ['usage', 'top_up', 'adjustment', 'top_up,adjustment', 'refund']) {
        expect(await listAll({ kind, limit: '2' }), kind).toStrictEqual(
          all.filter((entry) => kind.split(',').includes(entry.kind)),
        );
      }
    });

    test('by room and participant', async () => {
      const all = await listAll({ kind: 'usage' });
      const ofRoom = await listAll({ room: 'Raum "ü", 1', limit: '9' });
      expect(ofRoom).toStrictEqual(all.filter(({ reference }) => reference === 'Raum "ü", 1'));
      expect(ofRoom.length).toBeGreaterThan(20);
      expect(await listAll({ room: '' })).toStrictEqual(all.filter(({ reference }) => reference === ''));
      expect(await listAll({ room: 'stage', participant: 'user-3', limit: '5' })).toStrictEqual(
        all.filter(({ reference, detail }) => reference === 'stage' && detail === 'user-3'),
      );
      expect(await listAll({ room: 'nowhere' })).toStrictEqual([]);
      expect(await listAll({ room: 'stage', kind: 'top_up' })).toStrictEqual([]);
    });

    test('by time: from that instant on, and before the other', async () => {
      const { rows } = await app.service.deps.db.query<{ at: Date; seq: bigint }>(
        'select at, seq from postings where tenant_id = $1 order by seq',
        [idOf(tenant)],
      );
      const [from, to] = [rows[3]!.at, rows[7]!.at].map((at) => at.toISOString());
      const all = (await listAll()) as (Entry & { at: string })[];
      expect(await listAll({ from: from!, to: to!, limit: '40' })).toStrictEqual(
        all.filter(({ at }) => at >= from! && at < to!),
      );
      expect(await listAll({ from: '2020-01-01', to: '2020-01-02' })).toStrictEqual([]);
      expect(await listAll({ from: '2999-01-01' })).toStrictEqual([]);
    });
  });

  describe('as a stream', () => {
    const stream = (accept: string, query = '') =>
      app.request('GET', `/v1/ledger${query}`, { key: tenant.key, headers: { accept } });

    test('of NDJSON has every entry', async () => {
      const answer = await stream('application/x-ndjson');
      expect(answer.status).toBe(200);
      expectCommonHeaders(answer);
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toBe('attachment; filename="ledger.ndjson"');
      const lines = answer.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const entries = await listAll();
      expect(
        lines.map(({ id, kind, micros, payment, posting_seq: seq, balance_after_micros: after }) => [
          id,
          kind,
          micros,
          payment,
          seq,
          after,
        ]),
      ).toStrictEqual(
        entries.map(
          ({ id, kind, amount: { micros }, payment, posting_seq: seq, balance_after: { micros: after } }) => [
            id,
            kind,
            micros,
            payment,
            seq,
            after,
          ],
        ),
      );
    });

    test('of CSV has a head and every entry, quoted where needed', async () => {
      const answer = await stream('text/html, text/csv;q=0.9', '?room=Raum%20%22%C3%BC%22,%201');
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      const [head, ...lines] = answer.text.split('\r\n');
      expect(head).toBe(
        'at,kind,micros,dollars,capped,reference,detail,id,payment,posting_seq,balance_after_micros',
      );
      const entries = await listAll({ room: 'Raum "ü", 1' });
      expect(lines.pop()).toBe('');
      expect(lines).toHaveLength(entries.length);
      expect(lines[0]).toMatch(
        /^2\d{3}-.+Z,usage,-?\d+,-?\d+\.\d{6},(true|false),"Raum ""ü"", 1",user-\d,record-\d+,,\d+,-?\d+$/,
      );
    });

    test('of CSV has no cell that a spreadsheet takes for a formula', async () => {
      const of = await app.paidTenant();
      await report(
        app,
        of,
        manyRecords(1, { room: '=HYPERLINK("http://evil.example")', participant: '@ann' }),
      );
      const answer = await app.request('GET', '/v1/ledger?kind=usage', {
        key: of.key,
        headers: { accept: 'text/csv' },
      });
      expect(answer.text).toContain(`,"'=HYPERLINK(""http://evil.example"")",'@ann,`);
    });

    test('keeps no place among the calls of its tenant: twenty at once arrive', async () => {
      const streams = await Promise.all(Array.from({ length: 20 }, () => stream('application/x-ndjson')));
      const [first] = streams;
      expect(new Set(streams.map(({ text }) => text))).toStrictEqual(new Set([first!.text]));
      expect(first!.text.split('\n').length).toBeGreaterThan(charged.length);
    });

    test('has no pages', async () => {
      const error = 'invalid request: limit and cursor must be left out of a stream, which has every line';
      expectError(await stream('text/csv', '?limit=5'), 400, error);
      expectError(await stream('application/x-ndjson', '?cursor=x'), 400, error);
    });

    test('is not one for any other Accept', async () => {
      for (const accept of ['application/json', '*/*', 'application/json, text/csv', 'nonsense']) {
        expect((await stream(accept)).headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    });

    test('that nobody reads holds no connection of the database, and ends with its client', async () => {
      const { port } = new URL(app.url);
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `GET /v1/ledger HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\nauthorization: Bearer ${tenant.key}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('readable', resolve));
      expectOk(await list());
      const { db } = app.service.deps;
      await expect.poll(() => db.totalCount - db.idleCount).toBe(0);
      socket.destroy();
    });
  });

  describe('400', () => {
    const seq = (parts: readonly string[]) => `?cursor=${renderPageToken(parts)}`;

    test.each([
      [
        '?kind=usages',
        'kind must be of usage, top_up, auto_top_up, refund, dispute, adjustment, correction, grant, grant_expired, grant_voided, separated by commas',
      ],
      [
        '?kind=',
        'kind must be of usage, top_up, auto_top_up, refund, dispute, adjustment, correction, grant, grant_expired, grant_voided, separated by commas',
      ],
      ['?from=yesterday', 'from must be a day or a time such as 2026-11-01T00:00:00Z'],
      ['?from=2026-02-31T00:00:00Z', 'from must be a day or a time such as 2026-11-01T00:00:00Z'],
      ['?from=2026-02-31', 'from must be a day or a time such as 2026-11-01T00:00:00Z'],
      ['?to=2026-11-01T00:00:00', 'to must be a day or a time such as 2026-11-01T00:00:00Z'],
      ['?from=2026-11-02&to=2026-11-01', 'from must be before to'],
      ['?limit=1001', 'limit must be a number from 1 to 1000'],
      ['?limit=0', 'limit must be a number from 1 to 1000'],
      ['?cursor=nonsense', 'cursor must be one that an answer gave'],
      [seq(['t_0000000000000001', '5', '0']), 'cursor must be one that an answer gave'],
    ])('%s', async (query, error) => {
      expectError(await list(query), 400, `invalid request: ${error}`);
    });

    test('a cursor of another tenant, or one that was altered', async () => {
      const { next_cursor: cursor } = expectOk(await list('?limit=1', other));
      const error = 'invalid request: cursor must be one that an answer gave';
      expectError(await list(`?cursor=${cursor}`), 400, error);
      expectOk(await list(`?cursor=${cursor}`, other));
      for (const [at, line] of [
        ['99999999999999999999', '0'],
        ['9999999999999999999', '0'],
        ['-1', '0'],
        ['5', '123456'],
        ['5', ''],
      ]) {
        expectError(await list(seq([other.id, at!, line!]), other), 400, error);
      }
    });
  });

  test('401 with a relay key, 403 when the tenant is not active', async () => {
    expectError(await app.request('GET', '/v1/ledger', { key: tenant.relayKey }), 401, 'invalid api key');
    const suspended = await app.paidTenant();
    await setStatus(app, suspended, 'suspended');
    expectError(await list('', suspended), 403, 'tenant is not active');
  });
});
