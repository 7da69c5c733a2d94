/** Downloads whose reader loses the right to them meanwhile. */
import { request } from 'node:http';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RECORDS_MAX } from '../../../src/money/records/usage-record.ts';
import { makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;
/** More than are read at once. */
const RECORDS = 2 * RECORDS_MAX;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 50_000 });
  owner = await makeMember(db(), idOf(tenant));
  for (let sent = 0; sent < RECORDS; sent += RECORDS_MAX) {
    const records = Array.from({ length: RECORDS_MAX }, () => usageRecord());
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** From now on, five seconds pass between two looks at the clock. */
function hurry(): void {
  let at = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    at += 5_000;
    return at;
  });
}

/** Resolves with the number of lines that came, and whether the answer came to its end. */
function download(method: 'GET' | 'POST', path: string, { cookie }: TestMember) {
  const { promise, resolve, reject } = Promise.withResolvers<{ lines: number; isWhole: boolean }>();
  const headers = {
    cookie,
    origin: new URL(app.config.publicUrl).origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const sent = request(`${app.url}${path}`, { method, headers }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    answer.on('error', () => {});
    answer.on('close', () => resolve({ lines: text.split('\n').length - 1, isWhole: answer.complete }));
  });
  sent.on('error', reject).end();
  return promise;
}

type Meanwhile = (reader: TestMember) => Promise<unknown>;

const LOSSES: readonly [string, Meanwhile][] = [
  ['is removed', ({ id }) => sendForm(app, `/console/members/${id}/remove`, {}, owner)],
  [
    'becomes a moderator',
    ({ id }) => sendForm(app, `/console/members/${id}/role`, { role: 'moderator' }, owner),
  ],
  ['logs out', (reader) => sendForm(app, '/console/logout', {}, reader)],
];

describe('the ledger as CSV', () => {
  /** `meanwhile` happens between the first stretch and the second. */
  async function readLedger(meanwhile: Meanwhile) {
    const reader = await makeMember(db(), idOf(tenant), { role: 'finance' });
    const { heavyReads } = app.service.deps;
    const run = heavyReads.run.bind(heavyReads);
    let stretches = 0;
    vi.spyOn(heavyReads, 'run').mockImplementation(async (caller, work) => {
      stretches += 1;
      if (stretches === 2) {
        await meanwhile(reader);
        hurry();
      }
      return run(caller, work);
    });
    return download('GET', '/console/ledger.csv', reader);
  }

  test.each(LOSSES)('breaks off when its reader %s', async (_what, meanwhile) => {
    const { lines, isWhole } = await readLedger(meanwhile);
    expect([isWhole, lines < RECORDS]).toEqual([false, true]);
  });

  test('comes to its end for a reader who keeps the right', async () => {
    const { lines, isWhole } = await readLedger(async () => {});
    expect([isWhole, lines > RECORDS]).toEqual([true, true]);
  });
});

test('the export of everything breaks off when its reader is removed', async () => {
  const reader = await makeMember(db(), idOf(tenant));
  const client = await app.database.pool.connect();
  await client.query('begin');
  await client.query('lock table usage_records');
  const reading = download('POST', '/console/export', reader);
  await expect.poll(() => countLockWaiters(db())).toBeGreaterThan(0);
  await sendForm(app, `/console/members/${reader.id}/remove`, {}, owner);
  hurry();
  await client.query('commit');
  client.release();
  const { lines, isWhole } = await reading;
  expect([isWhole, lines < RECORDS]).toEqual([false, true]);
});
