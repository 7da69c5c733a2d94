/** `POST /join`: one `describe` for each status of the specification. */
import fc from 'fast-check';
import { decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  replaceCompromisedKeys,
  rotateOnSchedule,
  rotateSigningKey,
} from '../../../src/access/tokens/rotate-signing-keys.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { moved } from '../../support/append-only.ts';
import { anyCharacter } from '../../support/characters.ts';
import {
  createCredential,
  deviceKey,
  endRoom,
  expectJoined,
  expectText,
  join,
  newDevice,
  spendAll,
  thumbprint,
  verify,
} from '../../support/devices.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { NOT_STRINGS, rawRequest, sendBytes, setStatus } from '../rest/support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

/** A credential with its own thirty joins. */
const credentialWith = async (fields: Record<string, unknown> = {}) =>
  (await createCredential(app, tenant, fields)).credential;

describe('200', () => {
  test('answers with a token and its details', async () => {
    const key = deviceKey();
    const credential = await credentialWith();
    const body = expectJoined(await join(app, credential, { username: 'Ann', room: 'r.1', key }));
    expect(body).toStrictEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expiresAt: expect.stringMatching(TIMESTAMP),
      room: 'r.1',
      username: 'ann',
      keyId: expect.stringMatching(/^[\w-]{43}$/),
      device: await thumbprint(key),
    });
  });

  test('the token is a JWS of the published key, and contains the grant', async () => {
    const key = deviceKey();
    const { id, credential } = await createCredential(app, tenant, { publish: ['screen', 'audio'] });
    const body = expectJoined(await join(app, credential, { room: 'claims', key, tenant: tenant.id }));
    expect(decodeProtectedHeader(body.token)).toStrictEqual({
      alg: 'ES256',
      kid: body.keyId,
      typ: 'participant+jwt',
    });
    const claims = await verify(app, body.token);
    const { rows } = await app.service.deps.db.query(
      'select r.uid, t.range_salt as salt from rooms r join tenants t on t.id = r.tenant_id where r.name = $1',
      ['claims'],
    );
    expect(claims).toStrictEqual({
      iss: 'http://service.test',
      aud: 'relay:service.test',
      sub: 'ann',
      tid: tenant.id,
      iat: expect.any(Number),
      nbf: claims.iat,
      exp: claims.iat! + 600,
      jti: expect.stringMatching(/^[0-9a-f]{32}$/),
      cnf: { jkt: await thumbprint(key) },
      room: 'claims',
      rid: rows[0].uid,
      role: 'audience',
      cap: [
        'chat.send',
        'publish.audio',
        'publish.screen',
        'roster.view',
        'self.update',
        'subscribe.audio',
        'subscribe.video',
      ],
      rank: 20,
      ep: 0,
      key: id,
      salt: rows[0].salt,
    });
    expect(rows[0].salt).toMatch(/^[0-9a-f]{32}$/);
    expect(body.expiresAt).toBe(new Date(claims.exp! * 1000).toISOString());
    expect(body.token.length).toBeLessThan(4096);
  });

  test("the time is the database's", async () => {
    const credential = await credentialWith();
    const now = async () =>
      Number((await app.service.deps.db.query('select extract(epoch from now()) as now')).rows[0].now);
    const before = await now();
    const { iat } = await verify(app, expectJoined(await join(app, credential)).token);
    expect(iat).toBeGreaterThanOrEqual(Math.floor(before));
    expect(iat).toBeLessThanOrEqual(await now());
  });

  test.each(['audio', 'video', 'screen', 'data'])(
    'grants only %s if the credential has only that',
    async (right) => {
      const credential = await credentialWith({ publish: [right] });
      const claims = await verify(app, expectJoined(await join(app, credential)).token);
      const publishes = (claims.cap as string[]).filter((each) => each.startsWith('publish.'));
      expect(publishes).toStrictEqual([`publish.${right}`]);
    },
  );

  test('a token never moderates and owns nothing', async () => {
    const credential = await credentialWith({ publish: ['audio', 'video', 'screen', 'data'] });
    const claims = await verify(app, expectJoined(await join(app, credential)).token);
    expect((claims.cap as string[]).filter((each) => /^(moderate|room|watchdog)\./.test(each))).toStrictEqual(
      [],
    );
    expect(claims.cap).toStrictEqual([...(claims.cap as string[])].sort());
  });

  test('every token has an id of its own, and a room keeps its uid', async () => {
    const credential = await credentialWith();
    const claims = await Promise.all(
      [1, 2, 3].map(async () => verify(app, expectJoined(await join(app, credential)).token)),
    );
    expect(new Set(claims.map((each) => each.jti)).size).toBe(3);
    expect(new Set(claims.map((each) => each.rid)).size).toBe(1);
  });

  test('takes the members that WebCrypto exports, which do not change the thumbprint', async () => {
    const key = deviceKey();
    const exported = { ...key, ext: true, key_ops: ['verify'], alg: 'ES256', use: 'sig', kid: 'mine' };
    const body = expectJoined(await join(app, await credentialWith(), { key: exported }));
    expect(body.device).toBe(await thumbprint(key));
  });

  test('takes the legacy thumbprint alone, or next to its key', async () => {
    const key = deviceKey();
    const device = await thumbprint(key);
    const credential = await credentialWith();
    expect(expectJoined(await join(app, credential, { key: undefined, device })).device).toBe(device);
    expect(expectJoined(await join(app, credential, { key, device })).device).toBe(device);
  });

  describe('a join that names no room', () => {
    test('goes to the default room of the credential', async () => {
      const credential = await credentialWith({ default_room: 'foyer' });
      expect(expectJoined(await join(app, credential)).room).toBe('foyer');
      expect(expectJoined(await join(app, credential, { room: 'hall' })).room).toBe('hall');
    });

    test('or else to the lobby', async () => {
      expect(expectJoined(await join(app, await credentialWith())).room).toBe('lobby');
    });
  });

  test.each(['a', 'A.b_c-9', '0', 'a'.repeat(128), '9..', 'constructor'])(
    'accepts the room name %s',
    async (room) => {
      expect(expectJoined(await join(app, await credentialWith(), { room })).room).toBe(room);
    },
  );

  test('rooms of two tenants share nothing but their name', async () => {
    const [one, other] = [await newDevice(app), await newDevice(app)];
    const uids = await Promise.all(
      [one, other].map(
        async (each) => (await verify(app, expectJoined(await join(app, each.credential)).token)).rid,
      ),
    );
    expect(uids[0]).not.toBe(uids[1]);
  });

  test.each([
    ['Ann', 'ann'],
    ['ＡＮＮ', 'ann'],
    ['Ångström', 'ångström'],
    ['\u0041\u030angström', 'ångström'],
    ['дарья', 'дарья'],
    ['花子', '花子'],
    ['𐐀𐐁', '𐐨𐐩'],
    ['a'.repeat(64), 'a'.repeat(64)],
  ])('the username %s is minted as %s', async (given, username) => {
    const body = expectJoined(await join(app, await credentialWith(), { username: given }));
    expect(body.username).toBe(username);
    expect((await verify(app, body.token)).sub).toBe(username);
  });

  test('a device that joins again is the same participant, with a new expiry', async () => {
    const credential = await credentialWith();
    const key = deviceKey();
    const fields = { username: 'again', room: 'again', key };
    const first = expectJoined(await join(app, credential, fields));
    const { db } = app.service.deps;
    await db.query(
      `update admissions set expires_at = ${moved('expires_at', '-5 minutes')} where username = 'again'`,
    );
    const second = expectJoined(await join(app, credential, fields));
    const { rows } = await db.query(
      `select device, expires_at as "expiresAt" from admissions where username = 'again'`,
    );
    expect(rows).toStrictEqual([{ device: first.device, expiresAt: new Date(second.expiresAt) }]);
  });

  test('a tenant that is exempt needs no credit', async () => {
    const device = await newDevice(app);
    await spendAll(app, device.tenant);
    await app.service.deps.db.query('update tenants set exempt = true where id = $1', [
      parseTenantId(device.tenant.id),
    ]);
    expectJoined(await join(app, device.credential));
  });

  test('a retiring credential still works next to its successor', async () => {
    const { id, credential } = await createCredential(app, tenant);
    const path = `/v1/device-credentials/${id}/rotate`;
    const rotated = (await app.request('POST', path, { key: tenant.key })).json;
    for (const each of [credential, rotated.credential]) expectJoined(await join(app, each));
  });
});

describe('400', () => {
  const refused = async (fields: Record<string, unknown>, what: string) =>
    expectText(await join(app, await credentialWith(), fields), 400, `invalid request: ${what}`);

  test.each([
    [undefined, 'body must be object'],
    [null, 'body must be object'],
    [[], 'body must be object'],
    ['x', 'body must be object'],
    [{}, 'username is required'],
    [{ username: 'ann' }, 'key is required'],
  ])('refuses the body %j', async (body, what) => {
    expectText(
      await ask(`${app.url}/join`, 'POST', { key: await credentialWith(), body }),
      400,
      `invalid request: ${what}`,
    );
  });

  test.each([
    ['role', 'host'],
    ['publish', ['audio']],
    ['capabilities', []],
    ['lifetime', 900],
    ['Username', 'x'],
  ])('refuses the unknown field %s', async (field, value) => {
    await refused({ [field]: value }, `${field} is not a known field`);
  });

  test('a field whose name contains a line break is reported in one line', async () => {
    await refused({ 'a\r\nset-cookie: x\u2028': 1 }, 'a??set-cookie: x? is not a known field');
  });

  test.each(['username', 'room', 'tenant', 'device'])('refuses %s that is not a string', async (field) => {
    const credential = await credentialWith();
    for (const [value] of NOT_STRINGS) {
      expectText(
        await join(app, credential, { [field]: value }),
        400,
        `invalid request: ${field} must be string`,
      );
    }
  });

  describe('body', () => {
    const send = async (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
      ask(`${app.url}/join`, 'POST', { key: await credentialWith(), raw, headers });

    test.each([
      '',
      '{',
      '{"username":"ann"',
      '{"username":"ann","username":"bob"}',
      '{"__proto__":{}}',
      'ann',
    ])('refuses %j', async (raw) => {
      const answer = await send(raw);
      expectText(answer, 400, answer.text);
      expect(answer.text).toMatch(/^invalid request: /);
    });

    test('refuses what is not UTF-8', async () => {
      expectText(
        await send(new Uint8Array([0x22, 0xff, 0x22])),
        400,
        'invalid request: the body is not UTF-8',
      );
    });

    test.each([{ 'content-type': 'text/plain' }, { 'content-type': 'application/x-www-form-urlencoded' }])(
      'refuses %j',
      async (headers) => {
        expectText(await send('{}', headers), 400, 'invalid request: Content-Type must be application/json');
      },
    );

    test('refuses one that is compressed', async () => {
      expectText(
        await send('{}', { 'content-encoding': 'gzip' }),
        400,
        'invalid request: the body may not be compressed',
      );
    });

    test.each([
      [4095, true],
      [4096, true],
      [4097, false],
      [8192, false],
    ])('of %i bytes', async (bytes, fits) => {
      const json = JSON.stringify({ username: 'ann', key: deviceKey() });
      const answer = await send(json + ' '.repeat(bytes - json.length));
      if (fits) expectJoined(answer);
      else expectText(answer, 400, 'invalid request: body exceeds 4 KiB');
    });

    test('that is cut short', async () => {
      const json = JSON.stringify({ username: 'ann', key: deviceKey() });
      for (let length = 1; length < json.length; length += 17) {
        const answer = await send(json.slice(0, length));
        expectText(answer, 400, 'invalid request: the body is not JSON');
      }
    });

    test('with too large a Content-Length, or a malformed chunk', async () => {
      const head = { authorization: `Bearer ${await credentialWith()}`, 'content-type': 'application/json' };
      const long = rawRequest('POST /join HTTP/1.1', { ...head, 'content-length': '4097' }, '{}');
      expectText(await sendBytes(app.url, long), 400, 'invalid request: body exceeds 4 KiB');
      const broken = rawRequest('POST /join HTTP/1.1', { ...head, 'transfer-encoding': 'chunked' }, 'x');
      expect((await sendBytes(app.url, `${broken}\r\n`)).status).toBe(400);
    });
  });

  describe('username', () => {
    const WHAT = 'username must be 1 to 64 characters that a username may hold (RFC 8265)';

    test.each([
      '',
      ' ',
      'ann b',
      'a\tb',
      'a\u200bb',
      '\u202eann',
      '☃',
      'a'.repeat(65),
      '\ufeffann',
      'x\u0600',
      'אa',
      '\u00ad',
    ])('refuses %j', async (username) => {
      await refused({ username }, WHAT);
    });

    test('of any script: the token has the answered name, or one line refuses it', async () => {
      const { credential, id } = await createCredential(app, tenant);
      const key = deviceKey();
      await fc.assert(
        fc.asyncProperty(
          fc.string({
            unit: fc.oneof(
              { weight: 3, arbitrary: fc.constantFrom(...'aZ09éßΣσçж花あ가ñअא٣') },
              { weight: 1, arbitrary: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }) },
            ),
            minLength: 1,
            maxLength: 12,
          }),
          async (username) => {
            fc.pre(!username.includes('\0') && username.isWellFormed());
            await app.service.deps.db.query('delete from rate_limits where key = $1', [`join:${id}`]);
            const answer = await join(app, credential, { username, key });
            if (answer.status === 200) {
              const minted = expectJoined(answer).username;
              expect((await verify(app, answer.json.token)).sub).toBe(minted);
              expect([...minted].length).toBeLessThanOrEqual(64);
              expect(expectJoined(await join(app, credential, { username: minted, key })).username).toBe(
                minted,
              );
            } else expectText(answer, 400, `invalid request: ${WHAT}`);
          },
        ),
        { numRuns: 150 },
      );
    });
  });

  describe('room', () => {
    test.each(['', '.a', '-a', '_a', 'a b', 'a/b', 'a*', 'é', 'a'.repeat(129), '..', 'a\n', 'a:b'])(
      'refuses %j',
      async (room) => {
        await refused({ room }, 'room must match pattern "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"');
      },
    );
  });

  describe('key', () => {
    const key = deviceKey();
    const flip = (text: string) => {
      const bytes = Buffer.from(text, 'base64url');
      bytes[31]! ^= 1;
      return bytes.toString('base64url');
    };

    test.each([
      ['a private member', { ...key, d: key.x }, 'key/d is not a known field'],
      ['members of another kind of key', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }, 'key/crv is required'],
      ['certificates', { ...key, x5c: ['x'] }, 'key/x5c is not a known field'],
      ['another type', { ...key, kty: 'OKP' }, 'key/kty must be EC'],
      ['another curve', { ...key, crv: 'P-384' }, 'key/crv must be P-256'],
      ['the curve of coins', { ...key, crv: 'secp256k1' }, 'key/crv must be P-256'],
      ['no x', { kty: 'EC', crv: 'P-256', y: key.y }, 'key/x is required'],
      ['no y', { kty: 'EC', crv: 'P-256', x: key.x }, 'key/y is required'],
      ['x too short', { ...key, x: key.x.slice(1) }, 'key/x must match pattern "^[A-Za-z0-9_-]{43}$"'],
      ['x with padding', { ...key, x: `${key.x}=` }, 'key/x must match pattern "^[A-Za-z0-9_-]{43}$"'],
      ['x as a number', { ...key, x: 1 }, 'key/x must be string'],
      ['a point off the curve', { ...key, y: flip(key.y) }, 'key must be a point of P-256'],
      ['x and y exchanged', { ...key, x: key.y, y: key.x }, 'key must be a point of P-256'],
      ['the origin', { ...key, x: 'A'.repeat(43), y: 'A'.repeat(43) }, 'key must be a point of P-256'],
      ['x beyond the field', { ...key, x: `${'_'.repeat(42)}8` }, 'key must be a point of P-256'],
      [
        'bits that belong to no byte',
        // The character after the last canonical one decodes to the same byte with an extra bit.
        { ...key, x: `${key.x.slice(0, 42)}${String.fromCharCode(key.x.charCodeAt(42) + 1)}` },
        'key must be a point of P-256',
      ],
      ['ext that is no boolean', { ...key, ext: 'true' }, 'key/ext must be boolean'],
      ['key_ops that is no list', { ...key, key_ops: 'verify' }, 'key/key_ops must be array'],
      ['null', null, 'key must be object'],
      ['text', JSON.stringify(key), 'key must be object'],
      ['a list', [key], 'key must be object'],
    ])('refuses %s', async (_what, given, message) => {
      await refused({ key: given }, message);
    });

    test('random: a point of the curve, or 400', async () => {
      const { credential, id } = await createCredential(app, tenant);
      const coordinate = fc
        .uint8Array({ minLength: 30, maxLength: 33 })
        .map((bytes) => Buffer.from(bytes).toString('base64url'));
      await fc.assert(
        fc.asyncProperty(
          fc.record(
            {
              kty: fc.constantFrom('EC', 'EC', 'EC', 'oct', ''),
              crv: fc.constantFrom('P-256', 'P-256', 'P-256', 'p-256', 'P-521'),
              x: coordinate,
              y: coordinate,
              d: coordinate,
              ext: fc.anything(),
              k: fc.anything(),
            },
            { requiredKeys: ['kty', 'crv', 'x', 'y'] },
          ),
          async (made) => {
            await app.service.deps.db.query('delete from rate_limits where key = $1', [`join:${id}`]);
            const answer = await join(app, credential, { key: made });
            expect(answer.status, answer.text).toBe(400);
            expectText(answer, 400, answer.text);
          },
        ),
        { numRuns: 100 },
      );
    });
  });

  describe('device', () => {
    test.each([
      '',
      'x',
      'A'.repeat(42),
      'A'.repeat(44),
      `${'A'.repeat(42)}B`,
      `${'A'.repeat(42)}=`,
      `${'A'.repeat(42)}+`,
    ])('refuses %j', async (device) => {
      await refused({ key: undefined, device }, 'device must be a thumbprint: 32 bytes in base64url');
    });

    test('must agree with the key', async () => {
      const device = await thumbprint(deviceKey());
      await refused({ key: deviceKey(), device }, 'device must be the thumbprint of key');
    });
  });
});

describe('401', () => {
  const wrong: Record<string, (credential: string) => string | undefined> = {
    'no Authorization': () => undefined,
    'an empty one': () => '',
    'Bearer and nothing': () => 'Bearer',
    'the credential alone': (credential) => credential,
    'another scheme': (credential) => `Basic ${credential}`,
    'two credentials': (credential) => `Bearer ${credential} ${credential}`,
    'text of another form': () => 'Bearer dev_x_y',
    'an unknown id': () => `Bearer dev_0123456789abcdef_${'A'.repeat(43)}`,
    'a wrong secret': (credential) =>
      `Bearer ${credential.slice(0, -1)}${credential.endsWith('A') ? 'E' : 'A'}`,
    'a secret too short': (credential) => `Bearer ${credential.slice(0, -1)}`,
    'a secret too long': (credential) => `Bearer ${credential}A`,
    'the prefix of keys': (credential) => `Bearer ${credential.replace('dev_', 'svc_')}`,
    'the prefix in upper case': (credential) => `Bearer ${credential.replace('dev_', 'DEV_')}`,
    'no prefix': (credential) => `Bearer ${credential.slice(4)}`,
    'a relay key': () => `Bearer ${tenant.relayKey}`,
    'an unknown API key': () => `Bearer svc_0123456789abcdef_${'A'.repeat(43)}`,
    'a backend key with a wrong secret': () =>
      `Bearer ${tenant.key.slice(0, -1)}${tenant.key.endsWith('A') ? 'E' : 'A'}`,
  };

  test.each(Object.entries(wrong))('for %s', async (_what, authorization) => {
    const header = authorization(await credentialWith());
    const answer = await join(
      app,
      undefined,
      {},
      { headers: header === undefined ? {} : { authorization: header } },
    );
    expectText(answer, 401, 'invalid api key');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('for two Authorization headers, even if both are right', async () => {
    const bearer = `authorization: Bearer ${await credentialWith()}`;
    const head = [bearer, bearer, 'content-type: application/json', 'content-length: 2'];
    expectText(
      await sendBytes(app.url, rawRequest('POST /join HTTP/1.1', head, '{}')),
      401,
      'invalid api key',
    );
  });

  test('for a credential that was revoked, in every process, at once', async () => {
    const { url } = await app.another();
    const { id, credential } = await createCredential(app, tenant);
    expectJoined(await join({ url }, credential));
    await app.request('DELETE', `/v1/device-credentials/${id}`, { key: tenant.key });
    for (const each of [app.url, url]) {
      expectText(await join({ url: each }, credential), 401, 'invalid api key');
    }
  });

  test('for one that has retired or expired, by the clock of the database', async () => {
    const { db } = app.service.deps;
    for (const column of ['retires_at', 'expires_at']) {
      const { id, credential } = await createCredential(app, tenant);
      await changeReferenceTable(
        db,
        `update device_credentials set ${column} = now() + interval '1 hour' where id = $1`,
        [id],
      );
      expectJoined(await join(app, credential));
      await changeReferenceTable(db, `update device_credentials set ${column} = now() where id = $1`, [id]);
      expectText(await join(app, credential), 401, 'invalid api key');
    }
  });
});

describe('402', () => {
  test('for a tenant that never paid', async () => {
    const fresh = await app.signUp();
    const { credential } = await createCredential(app, fresh);
    expectText(await join(app, credential), 402, 'payment required: add credit to activate this tenant');
  });

  test('for a tenant whose balance is spent, until it pays again', async () => {
    const device = await newDevice(app);
    await spendAll(app, device.tenant);
    expectText(await join(app, device.credential), 402, 'insufficient credit: top up to admit new sessions');
    await app.pay(device.tenant);
    expectJoined(await join(app, device.credential));
  });

  test('creates no room', async () => {
    const fresh = await app.signUp();
    await join(app, (await createCredential(app, fresh)).credential, { room: 'unpaid' });
    const { rows } = await app.service.deps.db.query(`select 1 from rooms where name = 'unpaid'`);
    expect(rows).toHaveLength(0);
  });
});

describe('403', () => {
  const NO_RIGHTS = 'permission denied: this credential has no publish rights';

  test('for a credential that may publish nothing', async () => {
    expectText(await join(app, await credentialWith({ publish: [] })), 403, NO_RIGHTS);
  });

  test('for a backend key, whatever its ceiling', async () => {
    expectText(await join(app, tenant.key), 403, NO_RIGHTS);
  });

  test.each(['t_0123456789abcdef', 't_', '', 'T_', 'everybody'])('for the tenant %j', async (other) => {
    expectText(
      await join(app, await credentialWith(), { tenant: other }),
      403,
      'permission denied: this credential is of another tenant',
    );
  });

  test.each([
    [['demo'], 'demo2'],
    [['demo-*'], 'demo'],
    [['demo-*'], 'Demo-1'],
    [['*-hall', 'x*'], 'lobby'],
    [['demo'], undefined],
  ])('with the rooms %j for the room %s', async (rooms, room) => {
    const credential = await credentialWith({ rooms });
    expectText(
      await join(app, credential, { room }),
      403,
      'permission denied: this credential is not for this room',
    );
  });

  test.each([
    [['demo-*'], 'demo-1'],
    [['x', '*'], 'y'],
    [['*a*b*'], 'xaxbx'],
  ])('not with the rooms %j for the room %s', async (rooms, room) => {
    expectJoined(await join(app, await credentialWith({ rooms }), { room }));
  });

  test.each(['suspended', 'archived', 'deleted'] as const)('for a tenant that is %s', async (status) => {
    const device = await newDevice(app);
    await setStatus(app, device.tenant, status);
    expectText(await join(app, device.credential), 403, 'tenant is not active');
  });
});

describe('404', () => {
  const strict = useService({ joinCreatesRooms: false });

  test('for a room that does not exist, if joins create none', async () => {
    const device = await newDevice(strict);
    expectText(await join(strict, device.credential, { room: 'none' }), 404, 'not found');
    const { rows } = await strict.service.deps.db.query('select 1 from rooms');
    expect(rows).toHaveLength(0);
  });

  test('not for a room that exists', async () => {
    const device = await newDevice(strict);
    await strict.service.deps.db.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, 'rm_1', 'open', 1, '{"hostCapabilities": [], "audienceCapabilities": []}')`,
      [parseTenantId(device.tenant.id)],
    );
    const { token } = expectJoined(await join(strict, device.credential, { room: 'open' }));
    expect((await verify(strict, token)).rid).toBe('rm_1');
  });

  test("not another tenant's room", async () => {
    const [one, other] = [await newDevice(strict), await newDevice(strict)];
    await strict.service.deps.db.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, 'rm_2', 'mine', 1, '{"hostCapabilities": [], "audienceCapabilities": []}')`,
      [parseTenantId(one.tenant.id)],
    );
    expectText(await join(strict, other.credential, { room: 'mine' }), 404, 'not found');
  });
});

describe('405', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])('for %s', async (method) => {
    const answer = await app.request(method, '/join', { key: await credentialWith() });
    expectText(answer, 405, 'method not allowed');
    expect(answer.headers.get('allow')).toBe('POST');
  });
});

describe('409', () => {
  test('for a room that has ended, on every attempt', async () => {
    const device = await newDevice(app);
    expectJoined(await join(app, device.credential, { room: 'over' }));
    await endRoom(app, device.tenant, 'over');
    for (let times = 0; times < 2; times += 1) {
      expectText(await join(app, device.credential, { room: 'over' }), 409, 'room has ended');
    }
    expectJoined(await join(app, device.credential, { room: 'another' }));
  });

  test('not once a new room has the name: tokens are for the new room', async () => {
    const device = await newDevice(app);
    const old = await verify(app, expectJoined(await join(app, device.credential)).token);
    await endRoom(app, device.tenant, 'lobby');
    await app.service.deps.db.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, 'rm_again', 'lobby', 2, '{"hostCapabilities": [], "audienceCapabilities": []}')`,
      [parseTenantId(device.tenant.id)],
    );
    const fresh = await verify(app, expectJoined(await join(app, device.credential)).token);
    expect([fresh.rid, fresh.rid === old.rid]).toStrictEqual(['rm_again', false]);
  });
});

describe('429', () => {
  const TOO_MANY = 'too many joins with this credential';

  test('the thirty-first join of a minute, counted across processes', async () => {
    const { url } = await app.another();
    const device = await newDevice(app);
    const answers = await Promise.all(
      Array.from({ length: 36 }, (_, at) => join({ url: at % 2 ? url : app.url }, device.credential)),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(30);
    for (const answer of answers.filter((each) => each.status !== 200)) {
      expectText(answer, 429, TOO_MANY);
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    // Another credential of the same tenant has its own thirty joins.
    expectJoined(await join(app, (await createCredential(app, device.tenant)).credential));
  });

  test('malformed joins count, unauthenticated ones do not', async () => {
    const { id, credential } = await createCredential(app, tenant);
    const wrong = `${credential.slice(0, -1)}${credential.endsWith('A') ? 'E' : 'A'}`;
    for (let times = 0; times < 5; times += 1) expect((await join(app, wrong)).status).toBe(401);
    const bad = ['{', '{}', `{"username":"${'a'.repeat(5000)}"}`];
    for (let times = 0; times < 30; times += 1) {
      const answer = await ask(`${app.url}/join`, 'POST', { key: credential, raw: bad[times % 3]! });
      expect(answer.status).toBe(400);
    }
    expectText(await join(app, credential), 429, TOO_MANY);
    // The counter's next minute.
    await app.service.deps.db.query('update rate_limits set expire = 0 where key = $1', [`join:${id}`]);
    expectJoined(await join(app, credential));
  });

  test('an address that keeps presenting wrong credentials', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const wrong = () =>
      `dev_${Math.random().toString(16).slice(2).padEnd(16, '0').slice(0, 16)}_${'A'.repeat(43)}`;
    await Promise.all(Array.from({ length: 101 }, () => join(app, wrong(), {}, { headers })));
    const answer = await join(app, wrong(), {}, { headers });
    expectText(answer, 429, 'too many failed api keys from this address');
  });
});

describe('the signing key', () => {
  test('is the one that is active now, in every process, and a removed one no longer signs', async () => {
    const { url } = await app.another();
    const { db } = app.service.deps;
    const box = new SecretBox(app.config.secretsKey);
    const credential = await credentialWith();
    const kids = async () =>
      Promise.all(
        [app.url, url].map(async (each) => expectJoined(await join({ url: each }, credential)).keyId),
      );
    const [first] = await kids();

    const next = await rotateSigningKey(db, OPERATOR, box);
    expect(await kids()).toStrictEqual([first, first]);
    await db.query(
      `update signing_keys set published_at = ${moved('published_at', '-1 hour')} where kid = $1`,
      [next],
    );
    await rotateOnSchedule(db, box);
    expect(await kids()).toStrictEqual([next, next]);
    // The retiring key still verifies its tokens.
    expect((await app.request('GET', '/.well-known/jwks.json')).json.keys).toHaveLength(2);

    const replaced = await replaceCompromisedKeys(db, OPERATOR, box);
    expect(await kids()).toStrictEqual([replaced, replaced]);
    const { keys } = (await app.request('GET', '/.well-known/jwks.json')).json;
    expect(keys.map((key: { kid: string }) => key.kid)).toStrictEqual([replaced]);
  });

  test('may change while devices join: every token verifies', async () => {
    const { db } = app.service.deps;
    const box = new SecretBox(app.config.secretsKey);
    const credential = await credentialWith();
    const joins: ReturnType<typeof join>[] = [];
    for (let round = 0; round < 4; round += 1) {
      joins.push(...Array.from({ length: 5 }, () => join(app, credential)));
      await rotateSigningKey(db, OPERATOR, box);
      await db.query(
        `update signing_keys set published_at = ${moved('published_at', '-1 hour')} where state = 'pending'`,
      );
      // Or another service does it first: its schedule says so.
      await rotateOnSchedule(db, box);
    }
    const tokens = (await Promise.all(joins)).map((answer) => expectJoined(answer).token);
    for (const token of tokens) expect((await verify(app, token)).sub).toBe('ann');
  });
});

describe('two joins at once that open the same room', () => {
  test('get the same room', async () => {
    const { url } = await app.another();
    for (let round = 0; round < 5; round += 1) {
      const device = await newDevice(app);
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          join({ url: at % 2 ? url : app.url }, device.credential, { room: 'race' }),
        ),
      );
      const uids = await Promise.all(
        answers.map(async (answer) => (await verify(app, expectJoined(answer).token)).rid),
      );
      expect(new Set(uids).size).toBe(1);
    }
  });

  test('a room that ends meanwhile is not recreated by a join', async () => {
    const { db } = app.service.deps;
    for (let round = 0; round < 10; round += 1) {
      const device = await newDevice(app);
      const end = async () => {
        const ended = () =>
          db.query(
            `update rooms set state = 'ENDED', ended_at = now(), end_reason = 'ended'
              where tenant_id = $1 and name = 'race' and state = 'LIVE'`,
            [parseTenantId(device.tenant.id)],
          );
        await expect.poll(async () => (await ended()).rowCount, { interval: 1 }).toBe(1);
      };
      const joins = Array.from({ length: 10 }, () => join(app, device.credential, { room: 'race' }));
      await Promise.all([...joins, end()]);
      for (const each of joins) expect([200, 409]).toContain((await each).status);
      const { rows } = await db.query(`select state from rooms where tenant_id = $1 and name = 'race'`, [
        parseTenantId(device.tenant.id),
      ]);
      expect(rows).toStrictEqual([{ state: 'ENDED' }]);
    }
  });
});

describe('names that look alike', () => {
  const CYRILLIC = 'раураӏ';
  const refusing = useService({ confusableUsernames: 'refuse' });

  test('are admitted unless the deployment refuses them', async () => {
    const credential = await credentialWith();
    expectJoined(await join(app, credential, { username: 'paypal', room: 'alike' }));
    expectJoined(await join(app, credential, { username: CYRILLIC, room: 'alike' }));
  });

  test('are refused while the other user is present, and only in that room', async () => {
    const device = await newDevice(refusing);
    const as = (username: string, room = 'alike') => join(refusing, device.credential, { username, room });
    expectJoined(await as('paypal'));
    expectText(
      await as(CYRILLIC),
      400,
      'invalid request: username looks like that of a user who is in the room',
    );
    expectJoined(await as('paypal'));
    expectJoined(await as('pay-pal'));
    expectJoined(await as(CYRILLIC, 'elsewhere'));

    await refusing.service.deps.db.query(
      `update participants set expires_at = now() where username = 'paypal'`,
    );
    expectJoined(await as(CYRILLIC));
    expect((await as('paypal')).status).toBe(400);
  });

  test('one of two concurrent joins is admitted', async () => {
    const { url } = await refusing.another();
    for (let round = 0; round < 8; round += 1) {
      const device = await newDevice(refusing);
      const answers = await Promise.all(
        ['paypal', CYRILLIC, 'paypal', CYRILLIC].map((username, at) =>
          join({ url: at < 2 ? url : refusing.url }, device.credential, { username }),
        ),
      );
      const names = answers.filter((each) => each.status === 200).map((each) => each.json.username);
      expect(names).toHaveLength(2);
      expect(new Set(names).size).toBe(1);
    }
  });
});

describe('secrets', () => {
  test('the database holds no credential and no token', async () => {
    const { credential } = await createCredential(app, tenant);
    const { token } = expectJoined(await join(app, credential));
    const { db } = app.service.deps;
    const tables = await db.query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    const rows = await Promise.all(
      tables.rows.map(({ name }) => db.query<{ row: string }>(`select ${name}::text as row from ${name}`)),
    );
    const dump = rows.flatMap((each) => each.rows.map(({ row }) => row)).join('\n');
    expect(dump).toContain(credential.slice(4, 20));
    const secret = credential.slice(21);
    for (const hidden of [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret, 'base64url').toString('hex'),
      token.split('.')[2]!,
    ]) {
      expect(dump).not.toContain(hidden);
    }
  });

  test('an error repeats no secret of the request', async () => {
    const credential = await credentialWith();
    const answers = [
      await join(app, credential, { tenant: credential }),
      await join(app, credential, { room: `${credential}:` }),
      await join(app, credential, { device: credential }),
      await join(app, undefined, {}, { headers: { authorization: `Basic ${credential}` } }),
      await ask(`${app.url}/join`, 'POST', { key: credential, raw: credential }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.text).not.toContain(credential.slice(21));
    }
  });
});
