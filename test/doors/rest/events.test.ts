import { beforeAll, describe, expect, test } from 'vitest';
import { appendCounted } from '../../outward/webhooks/support.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
  await appendCounted(app, tenant, 5);
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one' } });
});

const pull = (query = '', key: string | undefined = tenant.key) =>
  app.request('GET', `/v1/events${query}`, { key });
const seqs = (page: { events: { seq: number }[] }) => page.events.map(({ seq }) => seq);

describe('200', () => {
  test('all events, numbered without a gap, in the form that webhooks have', async () => {
    const page = expectOk(await pull());
    expect(seqs(page)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(page).toMatchObject({ after: 6, more: false });
    expect(page.events[5]).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'key_created',
      data: { key: { name: 'one', kind: 'backend', created_at: expect.any(String) } },
    });
    expect(expectOk(await pull()).events).toEqual(page.events);
  });

  test('a page at a time', async () => {
    const first = expectOk(await pull('?limit=4'));
    expect([seqs(first), first.after, first.more]).toEqual([[1, 2, 3, 4], 4, true]);
    const second = expectOk(await pull(`?limit=4&after=${first.after}`));
    expect([seqs(second), second.after, second.more]).toEqual([[5, 6], 6, false]);
    expect(expectOk(await pull('?after=6'))).toEqual({ events: [], after: 6, more: false });
  });

  test('only some types; the place moves past the others', async () => {
    const page = expectOk(await pull('?types=key_created,moderation'));
    expect([seqs(page), page.after]).toEqual([[6], 6]);
    expect(expectOk(await pull('?types=moderation'))).toEqual({ events: [], after: 6, more: false });
  });

  test('waits for the next event', async () => {
    const fresh = await app.signUp();
    const waiting = pull('?wait_seconds=20', fresh.key);
    await appendCounted(app, fresh, 1);
    expect(seqs(expectOk(await waiting))).toEqual([1]);
  });

  test('begins with the oldest event that is kept', async () => {
    const fresh = await app.signUp();
    await appendCounted(app, fresh, 5);
    expectOk(await pull('', fresh.key));
    await app.service.deps.db.query('delete from events where tenant_id = $1 and seq <= 3', [idOf(fresh)]);
    expect(seqs(expectOk(await pull('', fresh.key)))).toEqual([4, 5]);
    expect(seqs(expectOk(await pull('?after=3', fresh.key)))).toEqual([4, 5]);
    expectError(
      await pull('?after=2', fresh.key),
      400,
      'invalid request: after must be >= 3: older events are no longer kept; leave it out to begin there',
    );
  });

  test('none of another tenant', async () => {
    const stranger = await app.signUp();
    expect(expectOk(await pull('', stranger.key))).toEqual({ events: [], after: 0, more: false });
  });
});

describe('400', () => {
  test.each([
    ['after=7', 'after must be <= 6, the number of the newest event'],
    ['types=', 'types must be types of events, separated by commas'],
    ['types=room_created,', 'types must be types of events, separated by commas'],
    ['types=webhook_test', 'types must be types of events, separated by commas'],
    ['types=toString', 'types must be types of events, separated by commas'],
    ['wait_seconds=21', 'wait_seconds must be <= 20'],
    ['limit=1001', 'limit must be a number from 1 to 1000'],
  ])('%s', async (query, what) => {
    expectError(await pull(`?${query}`), 400, `invalid request: ${what}`);
  });

  test.each([
    'after=-1',
    'after=01',
    'after=x',
    'after=',
    'after=1&after=2',
    'after=9999999999999999999',
    'wait_seconds=1.5',
    'wait_seconds=-1',
    'limit=0',
    'limit=x',
    'types=a&types=b',
  ])('%s', async (query) => {
    expect((await pull(`?${query}`)).status).toBe(400);
  });
});

test('401 without a key, and with a relay key', async () => {
  expectError(await app.request('GET', '/v1/events'), 401, 'invalid api key');
  expectError(await pull('', tenant.relayKey), 401, 'invalid api key');
});

test('403 once the tenant is deleted', async () => {
  const gone = await app.signUp();
  await setStatus(app, gone, 'deleted');
  expectError(await pull('', gone.key), 403, 'tenant is not active');
});

test('429 when a tenant waits too often at once', async () => {
  const fresh = await app.signUp();
  const gone = new AbortController();
  const url = `${app.url}/v1/events?wait_seconds=20`;
  const headers = { authorization: `Bearer ${fresh.key}` };
  const waits = Array.from({ length: 6 }, () =>
    fetch(url, { headers, signal: gone.signal }).then(
      ({ status }) => status,
      () => 'aborted',
    ),
  );
  expect(await Promise.race(waits)).toBe(429);
  gone.abort();
  expect((await Promise.all(waits)).filter((each) => each === 'aborted')).toHaveLength(5);
});
