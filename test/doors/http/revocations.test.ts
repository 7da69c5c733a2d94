import { ModerationService } from '@boxoffice/contract/moderation_service';
import pino from 'pino';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { startService } from '../../../src/run/service.ts';
import { put, spend, wanted } from '../../control/budgets/support.ts';
import { mint, newStage } from '../../control/moderation/support.ts';
import { hashed, readSnapshot } from '../../control/revocations/support.ts';
import { createCredential, expectText, spendAll } from '../../support/devices.ts';
import { openEventStream, type TestEventStream } from '../../support/event-stream.ts';
import { useControl } from '../../support/grpc.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { expectError } from '../rest/support.ts';

const app = useService({ joinAddress: { host: '127.0.0.1', port: 0 } });
const controlOf = useControl(app);

const get = (tenant: { id: string }, query = '') =>
  app.request('GET', `/v1/revocations/${tenant.id}${query}`);

afterEach(() => {
  vi.useRealTimers();
});

describe('GET /v1/revocations/{tenant}', () => {
  let tenant: TestTenant;
  beforeAll(async () => {
    tenant = await app.signUp();
  });

  test('200: a signed snapshot, without a key, not cacheable', async () => {
    const answer = await get(tenant);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/jwt');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(await readSnapshot(app, answer.text)).toMatchObject({ tid: tenant.id, seq: 0, epochs: [] });
  });

  test('also on the address of joins', async () => {
    const url = `http://127.0.0.1:${app.service.joinPort}/v1/revocations/`;
    const answer = await ask(url + tenant.id, 'GET');
    expect(await readSnapshot(app, answer.text)).toMatchObject({ tid: tenant.id });
    expectText(await ask(url + renderTenantId(newTenantId()), 'GET'), 404, 'not found');
  });

  test.each(['', '-1', '+1', '01', '1.0', '1e3', 'x', '%20', '99999999999999999', '1&after=1'])(
    '400: after=%s',
    async (after) => {
      const message = 'invalid request: after must be the seq of a snapshot';
      expectError(await get(tenant, `?after=${after}`), 400, message);
    },
  );

  test.each([
    renderTenantId(newTenantId()),
    't_0',
    't_0000000000000000x',
    'T_0000000000000000',
    'x'.repeat(500),
    '%00',
  ])('404: there is no tenant %s', async (id) => {
    expectError(await get({ id }), 404, 'not found');
    expectError(await get({ id }, '?after=0'), 404, 'not found');
  });

  test('405: only GET is allowed', async () => {
    const answer = await app.request('POST', `/v1/revocations/${tenant.id}`, { body: {} });
    expectError(answer, 405, 'method not allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('a poll', () => {
  test('is answered at once if there is something newer, or else as soon as there is', async () => {
    const stage = await newStage(app, controlOf);
    await mint(stage, 'bob');
    const kick = () =>
      stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'bob' });
    await kick();
    const first = await readSnapshot(app, (await get(stage.tenant, '?after=0')).text);
    expect(first.epochs).toStrictEqual([[hashed('epoch', stage.roomUid, 'bob'), 1]]);

    let isAnswered = false;
    const polling = get(stage.tenant, `?after=${first.seq}`).finally(() => {
      isAnswered = true;
    });
    // Another event in between does not matter to relays.
    await mint(stage, 'eve');
    expect(isAnswered).toBe(false);
    await kick();
    const second = await readSnapshot(app, (await polling).text);
    expect(second.epochs).toStrictEqual([[hashed('epoch', stage.roomUid, 'bob'), 2]]);
    expect(second.seq).toBeGreaterThan(first.seq);
  });

  test('is answered after 25 seconds without news, longer than other requests may take', async () => {
    const tenant = await app.signUp();
    const { deps } = app.service;
    await get(tenant);
    const waits = vi.spyOn(deps.events, 'wait');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isAnswered = false;
    const polling = get(tenant, '?after=0').finally(() => {
      isAnswered = true;
    });
    await expect.poll(() => waits.mock.calls.length).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(24_900);
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    vi.useRealTimers();
    const answer = await polling;
    expect(answer.status).toBe(200);
    expect(await readSnapshot(app, answer.text)).toMatchObject({ seq: 0 });
    waits.mockRestore();
  });

  test('429: more than 200 from one address', async () => {
    const tenant = await app.signUp();
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const path = `/v1/revocations/${tenant.id}`;
    const service = await startService(app.config, pino({ level: 'silent' }));
    const url = `http://127.0.0.1:${service.port}`;
    const begun = vi.spyOn(service.deps.revocations, 'poll');
    const polls = Array.from({ length: 200 }, (_, index) =>
      ask(`${url}${path}?after=0`, 'GET', from(`2001:db8::${index.toString(16)}`)),
    );
    await expect.poll(() => begun.mock.calls.length, { timeout: 60_000 }).toBe(200);
    const refused = await ask(`${url}${path}`, 'GET', from('2001:db8::ffff'));
    expectError(refused, 429, 'too many open streams');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await ask(`${url}${path}`, 'GET', from('2001:db8:0:1::1'))).status).toBe(200);

    // Open polls are answered when the service stops.
    await service.stop();
    expect(new Set((await Promise.all(polls)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe('a stream', () => {
  const streams: TestEventStream[] = [];
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });

  const open = async (tenant: { id: string }, key?: string, url = app.url) => {
    const stream = await openEventStream(`${url}/v1/revocations/${tenant.id}`, key);
    streams.push(stream);
    return stream;
  };
  const snapshotOf = async (stream: TestEventStream) => {
    const item = await stream.next();
    expect(item?.event).toBe('revocations');
    return readSnapshot(app, item!.data);
  };
  const admittedOf = async (stream: TestEventStream) => {
    let item = await stream.next();
    // A change may come with a fresh signature of the same revocations.
    while (item?.event === 'revocations') item = await stream.next();
    return item && JSON.parse(item.data);
  };
  const accepting = (accept: string, key?: string) => ({
    headers: { accept },
    ...(key !== undefined && { key }),
  });

  test('begins with the newest snapshot and goes on with each newer one, without a key', async () => {
    const stage = await newStage(app, controlOf);
    await mint(stage, 'bob');
    const stream = await open(stage.tenant);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('cache-control')).toBe('no-store');
    expect(stream.headers.get('vary')).toBe('accept');
    expect((await snapshotOf(stream)).epochs).toStrictEqual([]);
    for (const epoch of [1, 2]) {
      await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'bob' });
      expect((await snapshotOf(stream)).epochs).toStrictEqual([
        [hashed('epoch', stage.roomUid, 'bob'), epoch],
      ]);
    }
  });

  test('tells which device credentials were revoked, by hash, in every process', async () => {
    const tenant = await app.paidTenant();
    const { id } = await createCredential(app, tenant);
    const { url } = await app.another();
    const both = await Promise.all([open(tenant), open(tenant, undefined, url)]);
    for (const stream of both) expect((await snapshotOf(stream)).credentials).toStrictEqual([]);
    await app.request('DELETE', `/v1/device-credentials/${id}`, { key: tenant.key });
    for (const stream of both) {
      expect((await snapshotOf(stream)).credentials).toStrictEqual([hashed('credential', tenant.id, id)]);
    }
  });

  test('with a relay key tells whether the tenant is admitted, first and after each change', async () => {
    const tenant = await app.paidTenant();
    const { db } = app.service.deps;
    const { url } = await app.another();
    const both = await Promise.all([open(tenant, tenant.relayKey), open(tenant, tenant.relayKey, url)]);
    const expectBoth = async (admitted: boolean) => {
      for (const stream of both) expect(await admittedOf(stream)).toStrictEqual({ admitted });
    };
    await expectBoth(true);
    await spendAll(app, tenant);
    await expectBoth(false);
    await app.pay(tenant);
    await expectBoth(true);
    await changeStatus(db, OPERATOR, idOf(tenant), 'suspended', 'test');
    await expectBoth(false);
    await changeStatus(db, OPERATOR, idOf(tenant), 'active', 'test');
    await expectBoth(true);
  });

  test('with a relay key tells which hard budgets are spent', async () => {
    const tenant = await app.paidTenant();
    const stream = await open(tenant, tenant.relayKey);
    expect(await admittedOf(stream)).toStrictEqual({ admitted: true });
    await put(app, tenant, wanted({ id: 'soft', max: 0n, hard: false }));
    const { uid } = await put(app, tenant, wanted({ max: 100n }));
    await spend(app, tenant, { participant: 'ann', seconds: 1, micros: 100n });
    expect(await admittedOf(stream)).toStrictEqual({ admitted: true, reached_budgets: [uid] });
    await put(app, tenant, wanted({ max: 101n }));
    expect(await admittedOf(stream)).toStrictEqual({ admitted: true });
  });

  test('a tenant that never paid is not admitted', async () => {
    const tenant = await app.signUp();
    expect(await admittedOf(await open(tenant, tenant.relayKey))).toStrictEqual({ admitted: false });
  });

  test('ends instead of telling anything to a key that works no longer', async () => {
    const tenant = await app.paidTenant();
    const stream = await open(tenant, tenant.relayKey);
    expect(await admittedOf(stream)).toStrictEqual({ admitted: true });
    const path = `/v1/keys/${tenant.relayKeyId}?confirm=stop-service`;
    expect((await app.request('DELETE', path, { key: tenant.key })).status).toBe(204);
    await spendAll(app, tenant);
    expect(await admittedOf(stream)).toBeUndefined();
  });

  test('ends when the service stops', async () => {
    const tenant = await app.signUp();
    const { url, service } = await app.another();
    const stream = await open(tenant, tenant.relayKey, url);
    expect(await admittedOf(stream)).toStrictEqual({ admitted: false });
    await Promise.all([service.stop(), expect(stream.next()).resolves.toBeUndefined()]);
  });

  test('is only for who accepts it, and a poll takes no key', async () => {
    const tenant = await app.signUp();
    for (const accept of ['*/*', 'application/jwt', 'text/event-stream;q=0.5, application/jwt']) {
      const answer = await app.request(
        'GET',
        `/v1/revocations/${tenant.id}`,
        accepting(accept, 'bo_0123456789abcdef_wrong'),
      );
      expect(answer.headers.get('content-type')).toBe('application/jwt');
    }
    const head = await app.request('HEAD', `/v1/revocations/${tenant.id}`, accepting('text/event-stream'));
    expect([head.status, head.headers.get('content-type')]).toStrictEqual([200, 'application/jwt']);
  });

  test('401, 403, 404: who may not open it', async () => {
    const [tenant, other] = [await app.signUp(), await app.signUp()];
    const ask = (id: string, key?: string) =>
      app.request('GET', `/v1/revocations/${id}`, accepting('text/event-stream', key));
    expectError(await ask(tenant.id, tenant.key), 401, 'invalid api key');
    expectError(await ask(tenant.id, 'nonsense'), 401, 'invalid api key');
    expectError(await ask(tenant.id, other.relayKey), 403, 'permission denied: the key is of another tenant');
    expectError(await ask(renderTenantId(newTenantId())), 404, 'not found');
  });
});
