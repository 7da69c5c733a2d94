import { beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import type { TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR, setLimits } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, KEY, NOT_INTEGERS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
  await setLimits(app.service.deps.db, tenant, { api_keys: 1_000 });
});

const call = (method: string, path: string, options: { key?: string; body?: unknown; raw?: string } = {}) =>
  app.request(method, `/v1/keys${path}`, { key: tenant.key, ...options });
const create = async (kind = 'backend', key = tenant.key) =>
  expectOk(await call('POST', '', { key, body: { name: 'a key', kind } }), 201) as CreatedKey;
const list = async (key = tenant.key) => expectOk(await call('GET', '', { key })).keys as Key[];
const find = async (id: string, key = tenant.key) => (await list(key)).find((each) => each.id === id)!;
const works = async (key: string, url = app.url) =>
  (await ask(`${url}/v1/keys`, 'GET', { key })).status === 200;
const relayWorks = async (key: string, url = app.url) =>
  (await ask(`${url}/v1/usage`, 'POST', { key, body: { records: [usageRecord()] } })).status === 200;
const databaseNow = async () => (await app.service.deps.db.query('select now() as now')).rows[0].now as Date;

interface Key {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly created_at: string;
  readonly retires_at?: string;
  readonly revoked_at?: string;
}

interface CreatedKey {
  readonly key: Key;
  readonly api_key: string;
}

const WOULD_STOP = "this is the tenant's last working key of its kind: add confirm=stop-service to revoke it";
const expectWouldStop = (answer: Awaited<ReturnType<typeof call>>) =>
  expectError(answer, 409, WOULD_STOP, { code: 'would_stop_service' });

/** The answers to a key of a tenant in each status. */
const describeStatuses = (ask: (key: string) => ReturnType<typeof call>, status: number) => {
  test.each(['pending', 'active', 'suspended', 'archived'] as TenantStatus[])(
    'works while %s',
    async (state) => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, state);
      expectOk(await ask(fresh.key), status);
    },
  );

  test('403 once deleted', async () => {
    const fresh = await app.signUp();
    await setStatus(app, fresh, 'deleted');
    expectError(await ask(fresh.key), 403, 'tenant is not active');
  });
};

describe('GET /v1/keys', () => {
  describe('200', () => {
    test('shows the keys of a new tenant, oldest first', async () => {
      const fresh = await app.signUp();
      const body = expectOk(await call('GET', '', { key: fresh.key }));
      const created_at = expect.stringMatching(TIMESTAMP);
      expect(body).toStrictEqual({
        keys: [
          { id: fresh.keyId, name: 'default', kind: 'backend', created_at },
          { id: fresh.relayKeyId, name: 'relay', kind: 'relay', created_at },
        ],
      });
    });

    test('shows no key of another tenant, and no secret', async () => {
      const [one, other] = [await app.signUp(), await app.signUp()];
      const answer = await call('GET', '', { key: one.key });
      for (const hidden of [
        other.keyId,
        other.relayKeyId,
        one.key.slice(21),
        one.relayKey.slice(21),
        'hash',
      ]) {
        expect(answer.text).not.toContain(hidden);
      }
    });

    test('keeps revoked keys in the list', async () => {
      const { key } = await create();
      expectOk(await call('DELETE', `/${key.id}`), 204);
      expect(await find(key.id)).toStrictEqual({ ...key, revoked_at: expect.stringMatching(TIMESTAMP) });
    });

    test('five hundred at once, with a cursor for the next page', async () => {
      const fresh = await app.signUp();
      await changeReferenceTable(
        app.service.deps.db,
        `insert into api_keys (tenant_id, id, name, kind, hash, created_at, revoked_at)
         select $1, lpad(to_hex($2 + i), 16, '0'), i::text, 'relay', decode(repeat('00', 32), 'hex'),
                now() + i / 2 * interval '1 s', now()
           from generate_series(1, 999) i`,
        [idOf(fresh), Number.parseInt(fresh.keyId.slice(0, 6), 16)],
      );
      const first = expectOk(await call('GET', '', { key: fresh.key }));
      const second = expectOk(await call('GET', `?cursor=${first.next_cursor}`, { key: fresh.key }));
      const third = expectOk(await call('GET', `?cursor=${second.next_cursor}`, { key: fresh.key }));
      expect([first, second, third].map(({ keys }) => keys.length)).toStrictEqual([500, 500, 1]);
      expect(Object.keys(third)).toStrictEqual(['keys']);
      const names = [first, second, third].flatMap(({ keys }) => keys.map(({ name }: Key) => name));
      expect(names).toStrictEqual([
        'default',
        'relay',
        ...Array.from({ length: 999 }, (_, at) => String(at + 1)),
      ]);
    });
  });

  test.each([
    ['no token', 'x'],
    ['no id', renderPageToken(['1'])],
    ['of no key', renderPageToken(['0123456789abcdef'])],
  ])('400: a cursor that is %s', async (_, cursor) => {
    const answer = await call('GET', `?cursor=${cursor}`);
    expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
  });

  describe('status of the tenant', () => describeStatuses((key) => call('GET', '', { key }), 200));
});

describe('POST /v1/keys', () => {
  describe('201', () => {
    test.each(['backend', 'relay'])('creates a %s key that works at once', async (kind) => {
      const body = expectOk(await call('POST', '', { body: { name: 'Ring 1', kind } }), 201);
      expect(body).toStrictEqual({
        key: {
          id: expect.stringMatching(/^[0-9a-f]{16}$/),
          name: 'Ring 1',
          kind,
          created_at: expect.stringMatching(TIMESTAMP),
        },
        api_key: expect.stringMatching(KEY),
      });
      expect(KEY.exec(body.api_key)![1]).toBe(body.key.id);
      expect(await works(body.api_key)).toBe(kind === 'backend');
      expect(await relayWorks(body.api_key)).toBe(kind === 'relay');
      expect(await find(body.key.id)).toStrictEqual(body.key);
    });

    test('creates a backend key by default', async () => {
      expect(expectOk(await call('POST', '', { body: { name: 'x' } }), 201).key.kind).toBe('backend');
    });

    test.each([
      'x',
      'n'.repeat(100),
      '😀'.repeat(100),
      ' ',
      "Robert'); drop table api_keys; --",
      '<b>{{1}}</b> \x24{1} %s',
      'a\nb\tc\u2028\u202e',
    ])('keeps the name %j as it is', async (name) => {
      const body = expectOk(await call('POST', '', { body: { name } }), 201);
      expect(body.key.name).toBe(name);
      expect((await find(body.key.id)).name).toBe(name);
    });

    test('two keys may share a name', async () => {
      const [one, other] = [await create(), await create()];
      expect(one.key.name).toBe(other.key.name);
      expect(one.key.id).not.toBe(other.key.id);
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [{}, 'name is required'],
      [{ name: '' }, 'name must not be empty'],
      [{ name: 'x', kind: 'admin' }, 'kind must be one of backend, relay'],
      [{ name: 'x', kind: '' }, 'kind must be one of backend, relay'],
      [{ name: 'x', kind: 'Backend' }, 'kind must be one of backend, relay'],
      [{ name: 'x', id: '0123456789abcdef' }, 'id is not a known field'],
      [{ name: 'x', tenant: 't_0' }, 'tenant is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await call('POST', '', { body }), 400, `invalid request: ${what}`);
    });

    test.each(['n', '😀'])('refuses a name of 101 times %s', async (character) => {
      const answer = await call('POST', '', { body: { name: character.repeat(101) } });
      expectError(answer, 400, 'invalid request: name must not have more than 100 characters');
    });

    test.each(NOT_STRINGS)('refuses the name %j', async (name) => {
      expectError(await call('POST', '', { body: { name } }), 400, 'invalid request: name must be string');
    });

    test.each(NOT_STRINGS)('refuses the kind %j', async (kind) => {
      expectError(
        await call('POST', '', { body: { name: 'x', kind } }),
        400,
        'invalid request: kind must be string',
      );
    });

    test('comes before the status of the tenant', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'deleted');
      expectError(
        await call('POST', '', { key: fresh.key, body: {} }),
        400,
        'invalid request: name is required',
      );
    });
  });

  describe('status of the tenant', () =>
    describeStatuses((key) => call('POST', '', { key, body: { name: 'x' } }), 201));
});

describe('DELETE /v1/keys/{id}', () => {
  describe('204', () => {
    test('revokes at once, without a body, in every process', async () => {
      const { url } = await app.another();
      const [backend, relay] = [await create(), await create('relay')];
      expect([await works(backend.api_key, url), await relayWorks(relay.api_key, url)]).toStrictEqual([
        true,
        true,
      ]);
      for (const { key } of [backend, relay]) {
        const answer = await call('DELETE', `/${key.id}`);
        expectOk(answer, 204);
        expect([answer.text, answer.headers.get('content-type')]).toStrictEqual(['', null]);
      }
      for (const each of [app.url, url]) {
        expect([await works(backend.api_key, each), await relayWorks(relay.api_key, each)]).toStrictEqual([
          false,
          false,
        ]);
      }
    });

    test('a key revoked again keeps its time of revocation', async () => {
      const { key } = await create();
      expectOk(await call('DELETE', `/${key.id}`), 204);
      const { revoked_at } = await find(key.id);
      expectOk(await call('DELETE', `/${key.id}`), 204);
      expectOk(await call('DELETE', `/${key.id}?confirm=stop-service`), 204);
      expect((await find(key.id)).revoked_at).toBe(revoked_at);
    });

    test('a retiring key may be revoked early', async () => {
      const { key, api_key } = await create();
      expectOk(await call('POST', `/${key.id}/rotate`), 201);
      expectOk(await call('DELETE', `/${key.id}`), 204);
      expect(await works(api_key)).toBe(false);
      const { retires_at, revoked_at } = await find(key.id);
      expect([retires_at, revoked_at]).toStrictEqual([undefined, expect.stringMatching(TIMESTAMP)]);
    });

    test('the last relay key, and the last but one backend key, when confirmed', async () => {
      const fresh = await app.signUp();
      expectOk(await call('DELETE', `/${fresh.relayKeyId}?confirm=stop-service`, fresh), 204);
      expect(await relayWorks(fresh.relayKey)).toBe(false);
    });

    test('takes an empty body', async () => {
      const [one, other] = [await create(), await create()];
      expectOk(await call('DELETE', `/${one.key.id}`, { raw: '' }), 204);
      expectOk(await call('DELETE', `/${other.key.id}`, { raw: '{}' }), 204);
    });
  });

  describe('400', () => {
    test('a key cannot revoke itself, confirmed or not, last or not', async () => {
      const fresh = await app.signUp();
      const second = await create('backend', fresh.key);
      for (const query of ['', '?confirm=stop-service']) {
        expectError(
          await call('DELETE', `/${fresh.keyId}${query}`, fresh),
          400,
          'invalid request: a key cannot revoke itself',
        );
      }
      expect([await works(fresh.key), await works(second.api_key)]).toStrictEqual([true, true]);
    });

    test.each(['{"a":1}', '[]', 'null', '"x"', '1'])('refuses the body %s', async (raw) => {
      const { key } = await create();
      expectError(
        await call('DELETE', `/${key.id}`, { raw }),
        400,
        'invalid request: this route takes no body',
      );
      expect((await find(key.id)).revoked_at).toBeUndefined();
    });

    test('refuses confirm twice', async () => {
      const { key } = await create();
      const answer = await call('DELETE', `/${key.id}?confirm=stop-service&confirm=stop-service`);
      expectError(answer, 400, 'invalid request: confirm must be string');
    });
  });

  describe('404', () => {
    test.each([
      '0123456789abcdef',
      'x',
      'ffffffffffffffff0',
      '%00',
      '0123456789abcde%00',
      '%F0%9F%98%80',
      "'%20or%201=1--",
      '..',
      '%2e%2e%2fkeys',
      'a'.repeat(500),
      '__proto__',
    ])('the unknown key %s', async (id) => {
      expectError(await call('DELETE', `/${id}`), 404, 'not found');
      expectError(await call('DELETE', `/${id}?confirm=stop-service`), 404, 'not found');
    });

    test.each(['%', '%ff', '%zz', 'a'.repeat(501), ''])('no route matches %s', async (id) => {
      expectError(await call('DELETE', `/${id}`), 404, 'not found');
    });

    test("another tenant's key is not found, and stays unchanged", async () => {
      const other = await app.signUp();
      for (const id of [other.keyId, other.relayKeyId]) {
        expectError(await call('DELETE', `/${id}?confirm=stop-service`), 404, 'not found');
      }
      expect([await works(other.key), await relayWorks(other.relayKey)]).toStrictEqual([true, true]);
    });

    test('the id in upper case is another id', async () => {
      const id = (await create()).key.id;
      if (id.toUpperCase() !== id)
        expectError(await call('DELETE', `/${id.toUpperCase()}`), 404, 'not found');
    });
  });

  describe('409', () => {
    test('the last relay key needs a confirmation, spelled exactly', async () => {
      const fresh = await app.signUp();
      for (const query of [
        '',
        '?confirm=',
        '?confirm=true',
        '?confirm=Stop-Service',
        '?confirm=stop-service%20',
      ]) {
        expectWouldStop(await call('DELETE', `/${fresh.relayKeyId}${query}`, fresh));
      }
      const misspelled = await call('DELETE', `/${fresh.relayKeyId}?CONFIRM=stop-service`, fresh);
      expectError(misspelled, 400, 'invalid request: CONFIRM is not a known parameter');
      expect(await relayWorks(fresh.relayKey)).toBe(true);
    });

    test('a retiring key is no replacement: the last that is not retiring needs a confirmation', async () => {
      const fresh = await app.signUp();
      const rotated = expectOk(
        await call('POST', `/${fresh.keyId}/rotate`, { key: fresh.key }),
        201,
      ) as CreatedKey;
      expectWouldStop(await call('DELETE', `/${rotated.key.id}`, { key: fresh.key }));
      expectOk(await call('DELETE', `/${rotated.key.id}?confirm=stop-service`, { key: fresh.key }), 204);
    });

    test('a key of the other kind is no replacement', async () => {
      const fresh = await app.signUp();
      await create('backend', fresh.key);
      expectWouldStop(await call('DELETE', `/${fresh.relayKeyId}`, { key: fresh.key }));
    });

    test('two keys that revoke each other concurrently: exactly one is refused', async () => {
      const { url } = await app.another();
      for (let round = 0; round < 25; round += 1) {
        const fresh = await app.signUp();
        const second = await create('backend', fresh.key);
        const answers = await Promise.all([
          ask(`${app.url}/v1/keys/${second.key.id}`, 'DELETE', { key: fresh.key }),
          ask(`${url}/v1/keys/${fresh.keyId}`, 'DELETE', { key: second.api_key }),
        ]);
        const [gone, refused] = answers.sort((a, b) => a.status - b.status);
        expect(gone!.status).toBe(204);
        // The loser is refused for the last key or, if it comes later, because its own key is revoked.
        expect([401, 409]).toContain(refused!.status);
        expect([await works(fresh.key), await works(second.api_key)].filter(Boolean)).toHaveLength(1);
      }
    });

    test('the last two backend keys, revoked concurrently by a retiring third: exactly one is refused', async () => {
      const { url } = await app.another();
      for (let round = 0; round < 15; round += 1) {
        const { keyId, key } = await app.signUp();
        const next = expectOk(await call('POST', `/${keyId}/rotate`, { key }), 201) as CreatedKey;
        const ids = [next.key.id, (await create('backend', key)).key.id];
        const answers = await Promise.all(
          ids.map((id, at) => ask(`${at ? url : app.url}/v1/keys/${id}`, 'DELETE', { key })),
        );
        const [gone, refused] = answers.sort((a, b) => a.status - b.status);
        expect(gone!.status).toBe(204);
        expectWouldStop(refused!);
      }
    });

    test('two relay keys revoked concurrently: exactly one is refused', async () => {
      const { url } = await app.another();
      const fresh = await app.signUp();
      for (let round = 0; round < 25; round += 1) {
        const keys = (await list(fresh.key))
          .filter((key) => key.kind === 'relay' && !key.revoked_at)
          .map(({ id }) => id);
        if (keys.length === 1) keys.push((await create('relay', fresh.key)).key.id);
        const answers = await Promise.all(
          keys.map((id, at) => ask(`${at ? url : app.url}/v1/keys/${id}`, 'DELETE', { key: fresh.key })),
        );
        const [gone, refused] = answers.sort((a, b) => a.status - b.status);
        expect(gone!.status).toBe(204);
        expectWouldStop(refused!);
      }
    });
  });

  describe('status of the tenant', () =>
    describeStatuses(
      async (key) =>
        call('DELETE', `/${(await list(key).catch(() => []))[1]?.id ?? 'x'}?confirm=stop-service`, { key }),
      204,
    ));
});

describe('POST /v1/keys/{id}/rotate', () => {
  const rotate = (id: string, options: { key?: string; body?: unknown; raw?: string } = {}) =>
    call('POST', `/${id}/rotate`, options);

  describe('201', () => {
    test.each(['backend', 'relay'])(
      'replaces a %s key by one of the same name and kind; both work',
      async (kind) => {
        const old = await create(kind);
        const works_ = kind === 'backend' ? works : relayWorks;
        const body = expectOk(await rotate(old.key.id), 201);
        expect(body).toStrictEqual({
          key: {
            id: expect.stringMatching(/^[0-9a-f]{16}$/),
            name: old.key.name,
            kind,
            created_at: expect.stringMatching(TIMESTAMP),
          },
          api_key: expect.stringMatching(KEY),
          old_key_retires: expect.stringMatching(TIMESTAMP),
        });
        expect(body.key.id).not.toBe(old.key.id);
        expect([await works_(old.api_key), await works_(body.api_key)]).toStrictEqual([true, true]);
        expect(await find(old.key.id)).toStrictEqual({ ...old.key, retires_at: body.old_key_retires });
        expect(await find(body.key.id)).toStrictEqual(body.key);
      },
    );

    test.each([
      ['left out', undefined, undefined],
      ['empty', undefined, ''],
      ['{}', {}, undefined],
    ])('a body that is %s means a day', async (_what, body, raw) => {
      const { key } = await create();
      const before = (await databaseNow()).getTime();
      const options = { ...(body === undefined ? {} : { body }), ...(raw === undefined ? {} : { raw }) };
      const retires = Date.parse(expectOk(await rotate(key.id, options), 201).old_key_retires);
      expect(retires).toBeGreaterThanOrEqual(before + 86_400_000);
      expect(retires).toBeLessThanOrEqual((await databaseNow()).getTime() + 86_400_000);
    });

    test.each([1, 604_799, 604_800])('an overlap of %d seconds', async (overlap_seconds) => {
      const { key, api_key } = await create();
      const before = (await databaseNow()).getTime();
      const body = expectOk(await rotate(key.id, { body: { overlap_seconds } }), 201);
      const retires = Date.parse(body.old_key_retires) - overlap_seconds * 1000;
      expect(retires).toBeGreaterThanOrEqual(before);
      expect(retires).toBeLessThanOrEqual((await databaseNow()).getTime());
      if (overlap_seconds > 1) expect(await works(api_key)).toBe(true);
    });

    test('an overlap of 0 retires at once, even the calling key', async () => {
      const fresh = await app.signUp();
      const body = expectOk(await rotate(fresh.keyId, { key: fresh.key, body: { overlap_seconds: 0 } }), 201);
      expectError(await call('GET', '', { key: fresh.key }), 401, 'invalid api key');
      const old = await find(fresh.keyId, body.api_key);
      expect(old.retires_at).toBeUndefined();
      expect(old.revoked_at).toBe(body.old_key_retires);
    });

    test('once it retires the key is refused everywhere and listed as revoked at that time', async () => {
      const { url } = await app.another();
      const { key, api_key } = await create();
      const { old_key_retires } = expectOk(await rotate(key.id, { body: { overlap_seconds: 1 } }), 201);
      await expect.poll(() => works(api_key, url)).toBe(false);
      expect(await works(api_key)).toBe(false);
      expect((await databaseNow()).getTime()).toBeGreaterThanOrEqual(Date.parse(old_key_retires));
      expect(await find(key.id)).toStrictEqual({ ...key, revoked_at: old_key_retires });
      expectOk(await call('DELETE', `/${key.id}`), 204);
      expect((await find(key.id)).revoked_at).toBe(old_key_retires);
    });

    test('the successor may be rotated in turn', async () => {
      const { key } = await create();
      const next = expectOk(await rotate(key.id), 201) as CreatedKey;
      expectOk(await rotate(next.key.id), 201);
    });
  });

  describe('400', () => {
    test.each([
      [{ overlap_seconds: -1 }, 'overlap_seconds must be >= 0'],
      [{ overlap_seconds: 604_801 }, 'overlap_seconds must be <= 604800'],
      [{ overlap: 1 }, 'overlap is not a known field'],
      [null, 'body must be object'],
      [[], 'body must be object'],
      ['', 'body must be object'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await rotate((await create()).key.id, { body }), 400, `invalid request: ${what}`);
    });

    test.each(NOT_INTEGERS)('refuses an overlap of %j', async (overlap_seconds) => {
      const answer = await rotate(tenant.keyId, { body: { overlap_seconds } });
      expectError(answer, 400, 'invalid request: overlap_seconds must be integer');
    });

    test('comes before the status of the tenant, which comes before whether the key exists', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'deleted');
      const bad = { key: fresh.key, body: { overlap_seconds: -1 } };
      expectError(await rotate('x', bad), 400, 'invalid request: overlap_seconds must be >= 0');
      expectError(await rotate('x', { key: fresh.key }), 403, 'tenant is not active');
    });
  });

  describe('404', () => {
    test.each(['0123456789abcdef', 'x', '%00', '%F0%9F%98%80', 'a'.repeat(500)])(
      'the unknown key %s',
      async (id) => {
        expectError(await rotate(id), 404, 'not found');
      },
    );

    test("another tenant's key is not found, and stays unchanged", async () => {
      const other = await app.signUp();
      expectError(await rotate(other.keyId), 404, 'not found');
      expect((await find(other.keyId, other.key)).retires_at).toBeUndefined();
    });
  });

  describe('409', () => {
    test('a key has one successor', async () => {
      const { key } = await create();
      expectOk(await rotate(key.id), 201);
      expectError(await rotate(key.id), 409, 'already rotated');
    });

    test('a revoked key has none, whether it was revoked or has retired', async () => {
      const [revoked, retired] = [await create(), await create()];
      expectOk(await call('DELETE', `/${revoked.key.id}`), 204);
      expectOk(await rotate(retired.key.id, { body: { overlap_seconds: 0 } }), 201);
      expectError(await rotate(revoked.key.id), 409, 'already revoked');
      expectError(await rotate(retired.key.id), 409, 'already revoked');
    });

    test('two concurrent rotations: one successor', async () => {
      const { url } = await app.another();
      for (let round = 0; round < 20; round += 1) {
        const { key } = await create();
        const before = (await list()).length;
        const answers = await Promise.all(
          [app.url, url].map((each) => ask(`${each}/v1/keys/${key.id}/rotate`, 'POST', { key: tenant.key })),
        );
        const [won, lost] = answers.sort((a, b) => a.status - b.status);
        expectOk(won!, 201);
        expectError(lost!, 409, 'already rotated');
        expect(await list()).toHaveLength(before + 1);
      }
    });
  });

  describe('status of the tenant', () =>
    describeStatuses(async (key) => rotate(key.split('_')[1]!, { key }), 201));
});

describe('a key with a ceiling', () => {
  /** A tenant with a key of each ceiling; `default` has the widest. */
  async function makeKeys() {
    const { key: byDefault, keyId } = await app.signUp();
    const make = async (rooms: string[]) => {
      const made = await create('backend', byDefault);
      await changeCeiling(app.service.deps.db, OPERATOR, made.key.id, { rooms });
      return { id: made.key.id, plaintext: made.api_key };
    };
    const relay = await create('relay', byDefault);
    const [low, lower, equal, other] = await Promise.all(
      [['class-*'], ['class-1'], ['class-*'], ['stage']].map(make),
    );
    return { byDefault, keyId, relay, low: low!, lower: lower!, equal: equal!, other: other! };
  }
  const BEYOND = 'permission denied: beyond the ceiling of this key: ';

  test('403: neither rotates nor revokes a key with a wider or another ceiling', async () => {
    const { byDefault, keyId, relay, low, other } = await makeKeys();
    const before = await list(byDefault);
    for (const [id, excess] of [
      [keyId, 'room *'],
      [relay.key.id, 'room *'],
      [other.id, 'room stage'],
    ] as const) {
      expectError(await call('POST', `/${id}/rotate`, { key: low.plaintext }), 403, BEYOND + excess);
      expectError(await call('DELETE', `/${id}`, { key: low.plaintext }), 403, BEYOND + excess);
      expectError(
        await call('DELETE', `/${id}?confirm=stop-service`, { key: low.plaintext }),
        403,
        BEYOND + excess,
      );
    }
    expect(await list(byDefault)).toStrictEqual(before);
    expect(await works(byDefault)).toBe(true);
  });

  test('rotates and revokes keys with its own ceiling or a narrower one, and those it creates', async () => {
    const { low, lower, equal } = await makeKeys();
    const own = await create('relay', low.plaintext);
    for (const id of [lower.id, equal.id, own.key.id]) {
      const fresh = expectOk(await call('POST', `/${id}/rotate`, { key: low.plaintext }), 201);
      expectOk(await call('DELETE', `/${id}`, { key: low.plaintext }), 204);
      expectOk(await call('DELETE', `/${fresh.key.id}?confirm=stop-service`, { key: low.plaintext }), 204);
    }
    expectOk(await call('POST', `/${low.id}/rotate`, { key: low.plaintext }), 201);
  });

  test('404 and 400 come before 403, and 403 before 409', async () => {
    const { byDefault, keyId, low } = await makeKeys();
    expectError(await call('POST', '/0123456789abcdef/rotate', { key: low.plaintext }), 404, 'not found');
    expectError(
      await call('DELETE', `/${low.id}`, { key: low.plaintext }),
      400,
      'invalid request: a key cannot revoke itself',
    );
    expectOk(await call('POST', `/${keyId}/rotate`, { key: byDefault }), 201);
    expectError(await call('POST', `/${keyId}/rotate`, { key: low.plaintext }), 403, `${BEYOND}room *`);
  });
});
