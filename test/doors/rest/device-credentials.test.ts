import { beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import type { TenantStatus } from '../../../src/base/tenants/tenant.ts';
import { deviceKey } from '../../support/devices.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, NOT_INTEGERS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const CREDENTIAL = /^dev_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const GRANT = { name: 'a kiosk', publish: ['audio'] };

const call = (method: string, path: string, options: { key?: string; body?: unknown; raw?: string } = {}) =>
  app.request(method, `/v1/device-credentials${path}`, { key: tenant.key, ...options });
const create = async (fields: Record<string, unknown> = {}) =>
  expectOk(await call('POST', '', { body: { ...GRANT, ...fields } }), 201) as Created;
const list = async (key = tenant.key) =>
  expectOk(await call('GET', '', { key })).device_credentials as Credential[];
const find = async (id: string) => (await list()).find((each) => each.id === id)!;
const works = async (credential: string, url = app.url) => {
  const body = { username: 'ann', key: deviceKey() };
  return (await ask(`${url}/join`, 'POST', { key: credential, body })).status === 200;
};

interface Credential {
  readonly id: string;
  readonly revoked_at?: string;
  readonly retires_at?: string;
}

interface Created {
  readonly device_credential: Credential;
  readonly credential: string;
}

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

describe('GET /v1/device-credentials', () => {
  test('200: lists those of the tenant, oldest first, without secrets', async () => {
    const fresh = await app.signUp();
    const made: Created[] = [];
    for (const name of ['one', 'two']) {
      made.push(expectOk(await call('POST', '', { key: fresh.key, body: { ...GRANT, name } }), 201));
    }
    const answer = await call('GET', '', { key: fresh.key });
    expect(expectOk(answer)).toStrictEqual({
      device_credentials: made.map((each) => each.device_credential),
    });
    for (const hidden of [...made.map((each) => each.credential.slice(21)), 'hash']) {
      expect(answer.text).not.toContain(hidden);
    }
    expect(await list((await app.signUp()).key)).toStrictEqual([]);
  });

  test('200: fifty at once, with a cursor for the next page', async () => {
    const fresh = await app.signUp();
    await changeReferenceTable(
      app.service.deps.db,
      `insert into device_credentials (tenant_id, id, name, hash, publish, rooms, created_at)
       select $1, lpad(to_hex($2 + i), 16, '0'), i::text, decode(repeat('00', 32), 'hex'), '{}',
              array_fill('*' || repeat('x', 127), array[100]), '2026-01-01'::timestamptz + i / 2 * interval '1 s'
         from generate_series(1, 125) i`,
      [idOf(fresh), Number.parseInt(fresh.keyId.slice(0, 6), 16)],
    );
    const names: string[] = [];
    const sizes: number[] = [];
    for (let cursor = ''; ; ) {
      const body = expectOk(await call('GET', cursor && `?cursor=${cursor}`, { key: fresh.key }));
      expect(Object.keys(body)).toStrictEqual([
        'device_credentials',
        ...(sizes.length < 2 ? ['next_cursor'] : []),
      ]);
      names.push(...body.device_credentials.map(({ name }: { name: string }) => name));
      sizes.push(body.device_credentials.length);
      if (body.next_cursor === undefined) break;
      cursor = body.next_cursor;
    }
    expect(sizes).toStrictEqual([50, 50, 25]);
    expect(names).toStrictEqual(Array.from({ length: 125 }, (_, at) => String(at + 1)));
  });

  test.each([
    ['empty', ''],
    ['no base64url', '~'],
    ['of nothing', renderPageToken([])],
    ['of two', renderPageToken(['0123456789abcdef', '0123456789abcdef'])],
    ['no id', renderPageToken(['1'])],
    ['NUL', renderPageToken(['\0'])],
    ['of no credential', renderPageToken(['0123456789abcdef'])],
  ])('400: a cursor that is %s', async (_, cursor) => {
    const answer = await call('GET', `?cursor=${encodeURIComponent(cursor)}`);
    expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
  });

  test("400: a cursor of another tenant's list", async () => {
    const { device_credential } = await create();
    const other = await app.signUp();
    const cursor = renderPageToken([device_credential.id]);
    const answer = await call('GET', `?cursor=${cursor}`, { key: other.key });
    expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
  });

  describe('status of the tenant', () => describeStatuses((key) => call('GET', '', { key }), 200));
});

describe('POST /v1/device-credentials', () => {
  describe('201', () => {
    test('creates a credential that works at once, and is listed like the answer', async () => {
      const body = await create();
      expect(body).toStrictEqual({
        device_credential: {
          id: expect.stringMatching(/^[0-9a-f]{16}$/),
          ...GRANT,
          created_at: expect.stringMatching(TIMESTAMP),
        },
        credential: expect.stringMatching(CREDENTIAL),
      });
      expect(CREDENTIAL.exec(body.credential)![1]).toBe(body.device_credential.id);
      expect(await works(body.credential)).toBe(true);
      expect(await find(body.device_credential.id)).toStrictEqual(body.device_credential);
    });

    test('stores all fields', async () => {
      const grant = {
        name: '😀'.repeat(100),
        publish: ['data', 'screen', 'video', 'audio'],
        rooms: ['demo-*', 'lobby', '*', 'A._*-9'],
        default_room: 'demo-1',
        expires_at: '2999-12-31T23:59:59.999Z',
      };
      expect((await create(grant)).device_credential).toMatchObject(grant);
    });

    test('reads a time in any zone', async () => {
      const { device_credential } = await create({ expires_at: '2999-01-01T02:00:00+02:00' });
      expect(device_credential).toMatchObject({ expires_at: '2999-01-01T00:00:00.000Z' });
    });

    test('one without publish rights is created, but joins no room', async () => {
      const { device_credential, credential } = await create({ publish: [] });
      expect(device_credential).toMatchObject({ publish: [] });
      expect(await works(credential)).toBe(false);
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [{}, 'name is required'],
      [{ name: 'x' }, 'publish is required'],
      [{ publish: [] }, 'name is required'],
      [{ ...GRANT, name: '' }, 'name must not be empty'],
      [{ ...GRANT, name: 'n'.repeat(101) }, 'name must not have more than 100 characters'],
      [{ ...GRANT, publish: 'audio' }, 'publish must be array'],
      [{ ...GRANT, publish: ['audio', 'everything'] }, 'publish/1 must be one of audio, video, screen, data'],
      [{ ...GRANT, publish: [1] }, 'publish/0 must be string'],
      [{ ...GRANT, publish: ['audio', 'audio'] }, 'publish must not have duplicate items'],
      [{ ...GRANT, rooms: [] }, 'rooms must not be empty'],
      [{ ...GRANT, rooms: null }, 'rooms must be array'],
      [{ ...GRANT, rooms: Array(21).fill('x') }, 'rooms must not have more than 20 items'],
      [
        { ...GRANT, rooms: ['x', 'a b'] },
        'rooms/1 must match pattern "^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$"',
      ],
      [{ ...GRANT, rooms: [''] }, 'rooms/0 must match pattern "^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$"'],
      [
        { ...GRANT, default_room: 'x*' },
        'default_room must match pattern "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"',
      ],
      [{ ...GRANT, rooms: ['demo-*'], default_room: 'lobby' }, 'default_room must be among rooms'],
      [{ ...GRANT, expires_at: 'tomorrow' }, 'expires_at must match format "date-time"'],
      [{ ...GRANT, expires_at: '2999-01-01' }, 'expires_at must match format "date-time"'],
      [{ ...GRANT, expires_at: '2998-12-31T23:59:60Z' }, 'expires_at must match format "date-time"'],
      [{ ...GRANT, expires_at: 1e12 }, 'expires_at must be string'],
      [{ ...GRANT, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at must be in the future'],
      [{ ...GRANT, role: 'host' }, 'role is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await call('POST', '', { body }), 400, `invalid request: ${what}`);
    });

    test.each(NOT_STRINGS)('refuses the name %j', async (name) => {
      expectError(
        await call('POST', '', { body: { ...GRANT, name } }),
        400,
        'invalid request: name must be string',
      );
    });
  });

  test('403: beyond the ceiling of the key', async () => {
    const { key, keyId } = await app.signUp();
    await changeCeiling(app.service.deps.db, OPERATOR, keyId, { rooms: ['class-*'], lifetimeSeconds: 60 });
    expectError(
      await call('POST', '', { key, body: { ...GRANT, rooms: ['class-1', 'lobby'] } }),
      403,
      'permission denied: beyond the ceiling of this key: room lobby, lifetime 600 s',
    );
    expect(await list(key)).toStrictEqual([]);
    await changeCeiling(app.service.deps.db, OPERATOR, keyId, { lifetimeSeconds: 600 });
    expectOk(await call('POST', '', { key, body: { ...GRANT, rooms: ['class-1'] } }), 201);
  });

  describe('status of the tenant', () =>
    describeStatuses((key) => call('POST', '', { key, body: GRANT }), 201));
});

describe('DELETE /v1/device-credentials/{id}', () => {
  test('204: revokes at once and in every process; a second time changes nothing', async () => {
    const { url } = await app.another();
    const { device_credential, credential } = await create();
    expect([await works(credential), await works(credential, url)]).toStrictEqual([true, true]);
    const answer = await call('DELETE', `/${device_credential.id}`);
    expectOk(answer, 204);
    expect(answer.text).toBe('');
    expect([await works(credential), await works(credential, url)]).toStrictEqual([false, false]);

    const { revoked_at } = await find(device_credential.id);
    expect(revoked_at).toMatch(TIMESTAMP);
    expectOk(await call('DELETE', `/${device_credential.id}`), 204);
    expect((await find(device_credential.id)).revoked_at).toBe(revoked_at);
  });

  test('204: the last one needs no confirmation', async () => {
    const fresh = await app.signUp();
    const { device_credential } = expectOk(await call('POST', '', { key: fresh.key, body: GRANT }), 201);
    expectOk(await call('DELETE', `/${device_credential.id}`, fresh), 204);
  });

  test.each(['{"a":1}', '[]', 'null'])('400: refuses the body %s', async (raw) => {
    const { device_credential } = await create();
    expectError(
      await call('DELETE', `/${device_credential.id}`, { raw }),
      400,
      'invalid request: this route takes no body',
    );
  });

  test.each(['0123456789abcdef', 'x', '%00', "'%20or%201=1--", 'a'.repeat(500)])(
    '404: the unknown credential %s',
    async (id) => {
      expectError(await call('DELETE', `/${id}`), 404, 'not found');
      expectError(await call('POST', `/${id}/rotate`), 404, 'not found');
    },
  );

  test('404: the credential of another tenant, and the id of a key', async () => {
    const { device_credential, credential } = await create();
    const stranger = await app.signUp();
    for (const [id, key] of [
      [device_credential.id, stranger.key],
      [tenant.relayKeyId, tenant.key],
    ] as const) {
      expectError(await call('DELETE', `/${id}`, { key }), 404, 'not found');
      expectError(await call('POST', `/${id}/rotate`, { key }), 404, 'not found');
    }
    expect(await works(credential)).toBe(true);
  });

  describe('status of the tenant', () =>
    describeStatuses(async (key) => {
      const id = '0123456789abcdef';
      const answer = await call('DELETE', `/${id}`, { key });
      return answer.status === 404 ? call('GET', '', { key }) : answer;
    }, 200));
});

test('403: a key with a ceiling rotates and revokes only credentials within it', async () => {
  const owner = await app.signUp();
  const make = async (rooms: string[]) => {
    const body = { ...GRANT, rooms };
    return expectOk(await call('POST', '', { key: owner.key, body }), 201).device_credential.id;
  };
  const [inside, outside] = [await make(['class-1']), await make(['class-1', 'lobby'])];
  const low = await app.request('POST', '/v1/keys', { key: owner.key, body: { name: 'low' } });
  await changeCeiling(app.service.deps.db, OPERATOR, low.json.key.id, { rooms: ['class-*'] });
  const key = low.json.api_key;

  const before = await list(owner.key);
  const error = 'permission denied: beyond the ceiling of this key: room lobby';
  expectError(await call('POST', `/${outside}/rotate`, { key }), 403, error);
  expectError(await call('DELETE', `/${outside}`, { key }), 403, error);
  expect(await list(owner.key)).toStrictEqual(before);
  const rotated = expectOk(await call('POST', `/${inside}/rotate`, { key }), 201);
  for (const id of [inside, rotated.device_credential.id]) {
    expectOk(await call('DELETE', `/${id}`, { key }), 204);
  }
});

describe('POST /v1/device-credentials/{id}/rotate', () => {
  test('201: issues one of the same grant; the old one stays valid for the overlap', async () => {
    const grant = { ...GRANT, rooms: ['*'], default_room: 'x', expires_at: '2999-01-01T00:00:00.000Z' };
    const old = await create(grant);
    const body = expectOk(await call('POST', `/${old.device_credential.id}/rotate`), 201);
    expect(body).toStrictEqual({
      device_credential: {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        ...grant,
        created_at: expect.stringMatching(TIMESTAMP),
      },
      credential: expect.stringMatching(CREDENTIAL),
      old_credential_retires: expect.stringMatching(TIMESTAMP),
    });
    expect(body.device_credential.id).not.toBe(old.device_credential.id);
    expect([await works(old.credential), await works(body.credential)]).toStrictEqual([true, true]);
    expect((await find(old.device_credential.id)).retires_at).toBe(body.old_credential_retires);
    const inMs = Date.parse(body.old_credential_retires) - Date.parse(body.device_credential.created_at);
    expect(inMs).toBeGreaterThanOrEqual(86_399_000);
    expect(inMs).toBeLessThanOrEqual(86_401_000);
  });

  test('201: without an overlap the old one is refused at once, and listed as revoked then', async () => {
    const old = await create();
    const body = { overlap_seconds: 0 };
    const rotated = expectOk(await call('POST', `/${old.device_credential.id}/rotate`, { body }), 201);
    expect([await works(old.credential), await works(rotated.credential)]).toStrictEqual([false, true]);
    const listed = await find(old.device_credential.id);
    expect([listed.retires_at, listed.revoked_at]).toStrictEqual([undefined, rotated.old_credential_retires]);
  });

  test('400: an overlap out of range', async () => {
    const { device_credential } = await create();
    for (const overlap_seconds of [-1, 604_801, ...NOT_INTEGERS.map(([value]) => value)]) {
      const answer = await call('POST', `/${device_credential.id}/rotate`, { body: { overlap_seconds } });
      expect(answer.status, String(overlap_seconds)).toBe(400);
    }
    expect((await find(device_credential.id)).retires_at).toBeUndefined();
  });

  test('409: a credential has one successor, a revoked or expired one none', async () => {
    const id = (await create()).device_credential.id;
    expectOk(await call('POST', `/${id}/rotate`), 201);
    expectError(await call('POST', `/${id}/rotate`), 409, 'already rotated');
    expectOk(await call('DELETE', `/${id}`), 204);
    expectError(await call('POST', `/${id}/rotate`), 409, 'already revoked');

    const expired = (await create()).device_credential.id;
    await changeReferenceTable(
      app.service.deps.db,
      'update device_credentials set expires_at = now() where id = $1',
      [expired],
    );
    expectError(await call('POST', `/${expired}/rotate`), 409, 'already expired');
  });

  test('409: one of twenty concurrent rotations succeeds', async () => {
    const { url } = await app.another();
    const { device_credential } = await create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        ask(`${at % 2 ? url : app.url}/v1/device-credentials/${device_credential.id}/rotate`, 'POST', {
          key: tenant.key,
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    for (const answer of answers.filter((each) => each.status !== 201)) {
      expectError(answer, 409, 'already rotated');
    }
  });
});
