/** Compares the OpenAPI description with real answers, and generates bad requests from it. */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { LIST_OF_EVENTS } from '../../../src/doors/rest/described-webhooks.ts';
import { monthOf } from '../../../src/money/month.ts';
import { PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE } from '../../../src/outward/events/event-catalogue.ts';
import { anyCharacter } from '../../support/characters.ts';
import { closed, openApiValidator } from '../../support/openapi.ts';
import { type Answer, ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectCommonHeaders } from './support.ts';

const app = useService();
let tenant: TestTenant;
let openApi: OpenApi;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: object }>;
  };
  readonly responses: Record<
    string,
    {
      readonly description: string;
      readonly headers?: object;
      readonly content?: Record<string, { schema: object }>;
    }
  >;
}

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: { readonly securitySchemes: Record<string, unknown> };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, Record<'post', Operation>>;
}

beforeAll(async () => {
  tenant = await app.paidTenant();
  openApi = (await app.request('GET', '/openapi.json')).json;
});

const ajv = openApiValidator();
const validators = new Map<object, ValidateFunction>();

/** The documented operations, with their kind of key. */
const OPERATIONS: Record<string, string | undefined> = {
  'get /v1/rates': undefined,
  'post /v1/rates/simulate': 'backend_key',
  'post /v1/signup': undefined,
  'get /v1/audit': 'backend_key',
  'get /v1/billing': 'backend_key',
  'post /v1/billing/checkout': 'backend_key',
  'post /v1/billing/portal': 'backend_key',
  'put /v1/billing/auto-top-up': 'backend_key',
  'get /v1/billing/runway': 'backend_key',
  'get /v1/alerts': 'backend_key',
  'put /v1/alerts': 'backend_key',
  'get /v1/budgets': 'backend_key',
  'get /v1/budgets/{id}': 'backend_key',
  'put /v1/budgets/{id}': 'backend_key',
  'delete /v1/budgets/{id}': 'backend_key',
  'get /v1/billing/details': 'backend_key',
  'put /v1/billing/details': 'backend_key',
  'get /v1/billing/time-zone': 'backend_key',
  'put /v1/billing/time-zone': 'backend_key',
  'get /v1/mail': 'backend_key',
  'put /v1/mail': 'backend_key',
  'get /v1/grants': 'backend_key',
  'get /v1/payments': 'backend_key',
  'get /v1/payments/{id}/receipt': 'backend_key',
  'get /v1/keys': 'backend_key',
  'post /v1/keys': 'backend_key',
  'delete /v1/keys/{id}': 'backend_key',
  'post /v1/keys/{id}/rotate': 'backend_key',
  'get /v1/device-credentials': 'backend_key',
  'post /v1/device-credentials': 'backend_key',
  'delete /v1/device-credentials/{id}': 'backend_key',
  'post /v1/device-credentials/{id}/rotate': 'backend_key',
  'post /v1/usage': 'relay_key',
  'get /v1/usage/summary': 'backend_key',
  'get /v1/usage/records': 'backend_key',
  'get /v1/sessions': 'backend_key',
  'get /v1/sessions/{id}': 'backend_key',
  'get /v1/rooms/{uid}/cost': 'backend_key',
  'get /v1/usage/{id}/explain': 'backend_key',
  'post /v1/usage/lookup': 'relay_key',
  'get /v1/usage/conflicts': 'backend_key',
  'get /v1/ledger': 'backend_key',
  'get /v1/webhooks': 'backend_key',
  'post /v1/webhooks': 'backend_key',
  'get /v1/webhooks/{id}': 'backend_key',
  'patch /v1/webhooks/{id}': 'backend_key',
  'delete /v1/webhooks/{id}': 'backend_key',
  'post /v1/webhooks/{id}/rotate': 'backend_key',
  'post /v1/webhooks/{id}/test': 'backend_key',
  'post /v1/webhooks/{id}/resend': 'backend_key',
  'get /v1/webhooks/{id}/deliveries': 'backend_key',
  'get /v1/webhooks/{id}/dead-letters': 'backend_key',
  'get /v1/events': 'backend_key',
  'post /v1/participants/erase': 'backend_key',
  'get /v1/erasures/{id}': 'backend_key',
  'get /v1/statements': 'backend_key',
  'get /v1/statements/{month}': 'backend_key',
  'get /.well-known/statement-keys.json': undefined,
  'get /.well-known/jwks.json': undefined,
  'get /v1/revocations/{tenant}': undefined,
  'post /join': 'device_credential',
};

function expectDocumented(operation: Operation, answer: Answer): void {
  const documented = operation.responses[answer.status];
  expect(documented, `${operation.summary}: ${answer.status} is not documented`).toBeDefined();
  const content = documented?.content ?? {};
  const schema = content['application/json']?.schema;
  if (schema === undefined) {
    const type = answer.headers.get('content-type')?.split(';')[0];
    const types = Object.keys(content);
    if (type === undefined) expect(types).toStrictEqual([]);
    else expect(types).toContain(type);
    if (type === undefined) expect(answer.text).toBe('');
    return;
  }
  let validate = validators.get(schema);
  if (!validate) {
    validate = ajv.compile(closed(schema) as object);
    validators.set(schema, validate);
  }
  validate(answer.json);
  expect(validate.errors ?? [], answer.text).toStrictEqual([]);
}

describe('GET /openapi.json', () => {
  test('is OpenAPI 3.1', () => {
    expect(openApi.openapi).toMatch(/^3\.1\.\d+$/);
    expect(openApi.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(openApi.servers).toStrictEqual([{ url: 'http://service.test' }]);
    for (const [path, item] of Object.entries(openApi.paths)) {
      expect(path).toMatch(/^\//);
      for (const operation of Object.values(item)) {
        expect(operation.summary).toEqual(expect.any(String));
        expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
        for (const response of Object.values(operation.responses))
          expect(response.description).toEqual(expect.any(String));
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const given = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        expect(given.map((parameter) => [parameter.name, parameter.required])).toStrictEqual(
          named.map((name) => [name, true]),
        );
        for (const each of (operation.security ?? []).flatMap(Object.keys)) {
          expect(openApi.components.securitySchemes).toHaveProperty(each);
        }
      }
    }
  });

  test('describes the routes of the specification and no others', () => {
    const described = Object.entries(openApi.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { security }]) => [
        `${method} ${path}`,
        // An operation without a key says so: without `security`, it would take that of the whole description.
        Object.keys(security![0] ?? {})[0],
      ]),
    );
    expect(Object.fromEntries(described)).toStrictEqual(OPERATIONS);
  });

  test('names, tags and describes every operation, and every field of every body', () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toStrictEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    const declared = openApi.tags.map(({ name }) => name);
    const undescribed: string[] = [];
    for (const operation of operations()) {
      const { operationId, description, tags, parameters = [] } = operation;
      expect(declared, operationId).toEqual(expect.arrayContaining([...tags]));
      expect([operationId, tags.length]).toStrictEqual([operationId, 1]);
      if (!description) undescribed.push(operationId);
      for (const each of parameters) if (!each.description) undescribed.push(`${operationId} ${each.name}`);
      const contents = [operation.requestBody, ...Object.values(operation.responses)];
      for (const { schema } of contents.flatMap((each) => Object.values(each?.content ?? {}))) {
        undescribed.push(...findUndescribed(schema, operationId));
      }
    }
    expect(undescribed).toStrictEqual([]);
    const answered = operations().flatMap(({ responses }) => Object.values(responses));
    expect(answered.filter(({ description }) => description === 'Default Response')).toStrictEqual([]);
  });

  test('describes the request of each type of event to a webhook', () => {
    const { [LIST_OF_EVENTS]: _list, ...ofTypes } = openApi.webhooks;
    expect(Object.keys(ofTypes)).toStrictEqual([...PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE]);
    for (const [type, { post }] of Object.entries(ofTypes)) {
      const { schema } = post.requestBody!.content['application/json']!;
      expect(findUndescribed(schema, type)).toStrictEqual([]);
      expect(schema).toMatchObject({ properties: { type: { const: type } } });
      expect(() => ajv.compile(schema)).not.toThrow();
      expect(post.security).toStrictEqual([]);
    }
    const ids = [...operations(), ...Object.values(openApi.webhooks).map(({ post }) => post)].map(
      ({ operationId }) => operationId,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('describes the request of several events to a webhook', () => {
    const { post } = openApi.webhooks[LIST_OF_EVENTS]!;
    const { schema } = post.requestBody!.content['application/json']!;
    expect(findUndescribed(schema, LIST_OF_EVENTS)).toStrictEqual([]);
    const isList = ajv.compile(schema);
    const event = {
      id: 'evt_1',
      seq: 1,
      type: 'of_a_later_release',
      schema_version: 1,
      timestamp: '2026-11-22T18:00:00.000Z',
      data: { more: true },
    };
    expect(isList({ events: [event, event] })).toBe(true);
    for (const body of [event, [event], { events: [] }, { events: [{ ...event, id: 1 }] }])
      expect(isList(body)).toBe(false);
  });

  test('describes events as a list and as a stream', () => {
    const { content = {} } = openApi.paths['/v1/events']!.get!.responses['200']!;
    expect(Object.keys(content)).toStrictEqual(['application/json', 'text/event-stream']);
    expect(content['text/event-stream']!.schema).toMatchObject({ type: 'string' });
  });

  test('the bodies of rotations are optional, and no others', () => {
    const optional = operations().filter(({ requestBody }) => requestBody?.required === false);
    expect(optional.map(({ operationId }) => operationId)).toStrictEqual([
      'rotateKey',
      'rotateDeviceCredential',
      'rotateWebhookSecret',
    ]);
  });

  test('every operation may be 500 and 503, every one with a key 429, and every one with a body 408', () => {
    const withStatus = (status: number) =>
      operations()
        .filter(({ responses }) => status in responses)
        .map(({ operationId }) => operationId);
    const all = operations().map(({ operationId }) => operationId);
    expect(withStatus(500)).toStrictEqual(all);
    expect(all.filter((id) => !withStatus(429).includes(id))).toStrictEqual([
      'getRates',
      'getStatementKeys',
      'getPublicKeys',
    ]);
    expect(withStatus(503)).toStrictEqual(all);
    const withBody = operations().filter(({ requestBody }) => requestBody);
    expect(withStatus(408)).toStrictEqual(withBody.map(({ operationId }) => operationId));
    expect(withStatus(504)).toStrictEqual(['join']);
    for (const { responses } of operations()) {
      for (const status of [429, 503]) {
        if (status in responses) expect(responses[status]!.headers).toHaveProperty('Retry-After');
      }
    }
  });

  test('holds schemas that are JSON Schema', () => {
    for (const operation of operations()) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
        Object.values(each?.content ?? {}),
      );
      for (const { schema } of contents) expect(() => ajv.compile(schema)).not.toThrow();
    }
  });
});

describe('/docs/rest', () => {
  test('is a page, and its assets exist', async () => {
    const page = await app.request('GET', '/docs/rest');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expectCommonHeaders(page);
    const scripts = [...page.text.matchAll(/src="([^"]+)"/g)].map(([, path]) => path!);
    expect(scripts).not.toHaveLength(0);
    for (const path of scripts) {
      const script = await app.request('GET', new URL(path, 'http://service.test/docs/rest').pathname);
      expect([script.status, script.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('javascript'),
      ]);
    }
  });

  test.each(['/docs/nothing', '/docs/static/nothing.js'])('%s is 404', async (path) => {
    const { status, json } = await app.request('GET', path);
    expect({ status, json }).toEqual({ status: 404, json: { error: 'not found' } });
  });

  test.each(['/docs/rest', '/openapi.json'])(
    'HEAD %s has the length of the answer, without the body',
    async (path) => {
      const [get, head] = await Promise.all([app.request('GET', path), app.request('HEAD', path)]);
      expect(head).toMatchObject({ status: 200, text: '' });
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    },
  );
});

/** The paths of the properties in a schema that have no description. */
function findUndescribed(schema: unknown, path: string): string[] {
  const { properties = {}, items } = schema as { properties?: Record<string, object>; items?: object };
  const inside = Object.entries(properties).flatMap(([name, member]) => [
    ...('description' in member ? [] : [`${path}.${name}`]),
    ...findUndescribed(member, `${path}.${name}`),
  ]);
  return items ? [...inside, ...findUndescribed(items, `${path}[]`)] : inside;
}

const operations = () => Object.values(openApi.paths).flatMap((item) => Object.values(item));

describe('real answers are as documented', () => {
  const call = async (name: string, path: string, options: Parameters<typeof ask>[2] = {}) => {
    const [method = '', pattern = ''] = name.split(' ');
    const answer = await ask(app.url + path, method.toUpperCase(), options);
    expectDocumented(openApi.paths[pattern]![method]!, answer);
    return answer;
  };

  test('every route, in success and failure', async () => {
    const { key, relayKey, relayKeyId } = tenant;
    const statuses: number[] = [];
    const note = async (answer: Promise<Answer>) => statuses.push((await answer).status);
    const newKey = async () =>
      (await app.request('POST', '/v1/keys', { key, body: { name: 'x' } })).json.key.id;
    const records = [usageRecord({ room: 'r', participant: 'p' })];

    await note(call('get /v1/rates', '/v1/rates'));
    const alone = { role: 'host', tier: 'hd', count: 1, seconds: 60, egress_bytes: 1 };
    const simulate = 'post /v1/rates/simulate';
    await note(call(simulate, '/v1/rates/simulate', { key, body: { participants: [alone] } }));
    await note(call(simulate, '/v1/rates/simulate', { key, body: {} }));
    await note(call(simulate, '/v1/rates/simulate'));
    await note(call('post /v1/signup', '/v1/signup', { body: { name: 'x', email: 'a@example.com' } }));
    await note(call('post /v1/signup', '/v1/signup', { body: {} }));
    await note(call('post /v1/usage', '/v1/usage', { key: relayKey, body: { records } }));
    await note(call('post /v1/usage', '/v1/usage', { key: relayKey, body: {} }));
    await note(call('post /v1/usage', '/v1/usage', { key }));
    await note(call('get /v1/billing', '/v1/billing', { key }));
    await note(call('get /v1/billing', '/v1/billing'));
    await note(
      call('post /v1/billing/checkout', '/v1/billing/checkout', { key, body: { amount_cents: 1000 } }),
    );
    await note(call('post /v1/billing/checkout', '/v1/billing/checkout', { key, body: {} }));
    await note(call('post /v1/billing/portal', '/v1/billing/portal', { key }));
    await note(call('post /v1/billing/portal', '/v1/billing/portal', { key, raw: '[]' }));
    await note(
      call('put /v1/billing/auto-top-up', '/v1/billing/auto-top-up', { key, body: { enabled: false } }),
    );
    await note(call('put /v1/billing/auto-top-up', '/v1/billing/auto-top-up', { key, body: {} }));
    await note(call('get /v1/billing/runway', '/v1/billing/runway', { key }));
    await note(call('get /v1/billing/runway', '/v1/billing/runway?window=x', { key }));
    const threshold = { kind: 'balance', below_micros: 2 ** 40 };
    await note(call('put /v1/alerts', '/v1/alerts', { key, body: { thresholds: [threshold] } }));
    await note(call('put /v1/alerts', '/v1/alerts', { key, body: {} }));
    await note(call('get /v1/alerts', '/v1/alerts', { key }));
    await note(call('get /v1/alerts', '/v1/alerts'));
    const budget = { period: 'day', limit_micros: 2 ** 40, hard: true };
    await note(call('put /v1/budgets/{id}', '/v1/budgets/all', { key, body: budget }));
    await note(call('put /v1/budgets/{id}', '/v1/budgets/all', { key, body: {} }));
    await note(call('get /v1/budgets', '/v1/budgets', { key }));
    await note(call('get /v1/budgets/{id}', '/v1/budgets/all', { key }));
    await note(call('get /v1/budgets/{id}', '/v1/budgets/none', { key }));
    await note(call('delete /v1/budgets/{id}', '/v1/budgets/all', { key }));
    await note(call('delete /v1/budgets/{id}', '/v1/budgets/all', { key }));
    await note(call('get /v1/grants', '/v1/grants', { key }));
    await note(call('get /v1/grants', '/v1/grants?cursor=x', { key }));
    const payments = await call('get /v1/payments', '/v1/payments', { key });
    const [{ id: payment }] = payments.json.payments;
    await note(call('get /v1/audit', '/v1/audit', { key }));
    await note(call('get /v1/audit', '/v1/audit?limit=0', { key }));
    await note(call('get /v1/audit', '/v1/audit'));
    await note(call('get /v1/payments', '/v1/payments?cursor=x', { key }));
    const receipt = 'get /v1/payments/{id}/receipt';
    await note(call(receipt, `/v1/payments/${payment}/receipt`, { key }));
    await note(call(receipt, '/v1/payments/pi_x/receipt', { key }));
    await note(call('get /v1/keys', '/v1/keys', { key }));
    await note(call('post /v1/keys', '/v1/keys', { key, body: { name: 'x' } }));
    await note(call('post /v1/keys', '/v1/keys', { key, body: {} }));
    const rotated = await newKey();
    await note(call('post /v1/keys/{id}/rotate', `/v1/keys/${rotated}/rotate`, { key }));
    await note(call('post /v1/keys/{id}/rotate', `/v1/keys/${rotated}/rotate`, { key }));
    await note(call('post /v1/keys/{id}/rotate', '/v1/keys/x/rotate', { key }));
    await note(call('get /v1/keys', '/v1/keys', { key }));
    await note(call('delete /v1/keys/{id}', `/v1/keys/${await newKey()}`, { key }));
    await note(call('delete /v1/keys/{id}', `/v1/keys/${relayKeyId}`, { key }));
    await note(call('delete /v1/keys/{id}', '/v1/keys/x', { key }));

    const devices = '/v1/device-credentials';
    const grant = {
      name: 'x',
      publish: ['audio'],
      rooms: ['*'],
      default_room: 'x',
      expires_at: '2999-01-01T00:00:00Z',
    };
    const newDevice = async () =>
      (await app.request('POST', devices, { key, body: grant })).json.device_credential.id;
    await note(call(`post ${devices}`, devices, { key, body: grant }));
    await note(call(`post ${devices}`, devices, { key, body: {} }));
    const device = await newDevice();
    await note(call(`post ${devices}/{id}/rotate`, `${devices}/${device}/rotate`, { key }));
    await note(call(`post ${devices}/{id}/rotate`, `${devices}/${device}/rotate`, { key }));
    await note(call(`post ${devices}/{id}/rotate`, `${devices}/x/rotate`, { key }));
    await note(call(`get ${devices}`, devices, { key }));
    await note(call(`delete ${devices}/{id}`, `${devices}/${await newDevice()}`, { key }));
    await note(call(`delete ${devices}/{id}`, `${devices}/x`, { key }));

    const { credential } = (await app.request('POST', devices, { key, body: { ...grant, rooms: ['*'] } }))
      .json;
    const username = 'ann';
    await note(call('post /join', '/join', { key: credential, body: { username, device: 'A'.repeat(43) } }));
    await note(call('post /join', '/join', { key: credential, body: {} }));
    await note(call('post /join', '/join'));
    await note(call('get /.well-known/jwks.json', '/.well-known/jwks.json'));
    const revocations = 'get /v1/revocations/{tenant}';
    await note(call(revocations, `/v1/revocations/${tenant.id}`));
    await note(call(revocations, `/v1/revocations/${tenant.id}?after=x`));
    await note(call(revocations, '/v1/revocations/x'));

    const erase = 'post /v1/participants/erase';
    const asked = call(erase, '/v1/participants/erase', { key, body: { participant: 'bob' } });
    await note(asked);
    await note(call(erase, '/v1/participants/erase', { key, body: { participant: '' } }));
    const erasure = 'get /v1/erasures/{id}';
    await note(call(erasure, `/v1/erasures/${(await asked).json.erasure.id}`, { key }));
    await note(call(erasure, '/v1/erasures/x', { key }));
    await app.service.deps.db.query(`update tenants set created_at = '2020-01-01' where id = $1`, [
      idOf(tenant),
    ]);
    const statement = 'get /v1/statements/{month}';
    for (const month of ['2020-01', '2019-12', '2020-13', monthOf(new Date())]) {
      await note(call(statement, `/v1/statements/${month}`, { key }));
    }
    await note(call('get /v1/statements', '/v1/statements', { key }));
    await note(call('get /v1/statements', '/v1/statements'));
    await note(call('get /.well-known/statement-keys.json', '/.well-known/statement-keys.json'));
    expect(statuses).toStrictEqual([
      ...[200, 200, 400, 401],
      ...[201, 400, 200, 400, 401, 200, 401, 200, 400, 200, 400, 200, 400],
      ...[200, 400, 200, 400, 200, 401],
      ...[200, 400, 200, 200, 404, 204, 404],
      ...[200, 400],
      ...[200, 400, 401],
      ...[400, 200, 404],
      ...[200, 201, 400],
      ...[201, 409, 404, 200, 204, 409, 404],
      ...[201, 400, 201, 409, 404, 200, 204, 404],
      ...[200, 400, 401, 200, 200, 400, 404],
      ...[202, 400, 200, 404],
      ...[200, 404, 400, 409, 200, 401, 200],
    ]);
  });
});

describe('generated requests', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom('', 'host', 'hd', 'backend', 'a@b.co', '\0', '\ud800', '__proto__'),
  );
  const number = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.constantFrom(0, -0, 1000, 86_400, 604_800, 2 ** 53, 1e300),
  );
  const leaf: fc.Arbitrary<unknown> = fc.oneof(text, number, fc.boolean(), fc.constant(null));
  const junk: fc.Arbitrary<unknown> = fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(text, leaf, { maxKeys: 3 }),
  );
  const fields = (names: Record<string, fc.Arbitrary<unknown>>) =>
    fc
      .tuple(
        fc.record(
          Object.fromEntries(
            Object.entries(names).map(([name, value]) => [
              name,
              fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: junk }),
            ]),
          ),
          { requiredKeys: [] },
        ),
        fc.option(fc.dictionary(text, junk, { maxKeys: 1 }), { freq: 6 }),
      )
      .map(([known, more]) => ({ ...known, ...more }));

  const record = fields({
    id: text,
    room: text,
    participant: text,
    role: fc.constantFrom('host', 'audience', 'broadcast_audience'),
    tier: fc.constantFrom('audio', 'hd', 'full_hd', '2k', '2k_plus'),
    seconds: fc.integer({ min: 0, max: 90_000 }),
    egress_bytes: fc.maxSafeNat(),
    ingress_bytes: fc.maxSafeNat(),
  });
  const participants = fields({
    role: fc.constantFrom('host', 'audience', 'broadcast_audience'),
    tier: fc.constantFrom('audio', 'hd', 'full_hd', '2k', '2k_plus'),
    count: fc.integer({ min: 0, max: 110_000 }),
    seconds: fc.integer({ min: 0, max: 90_000 }),
    egress_bytes: fc.maxSafeNat(),
    interval_seconds: fc.integer({ min: 0, max: 90_000 }),
  });
  const BODIES: Record<string, fc.Arbitrary<unknown>> = {
    'post /v1/rates/simulate': fields({
      participants: fc.array(
        fc.oneof({ weight: 9, arbitrary: participants }, { weight: 1, arbitrary: junk }),
        { maxLength: 4 },
      ),
    }),
    'post /v1/signup': fields({ email: fc.emailAddress(), name: text }),
    'post /v1/billing/checkout': fields({ amount_cents: fc.integer({ min: 900, max: 1_000_100 }) }),
    'post /v1/billing/portal': junk,
    'put /v1/billing/auto-top-up': fields({
      enabled: fc.boolean(),
      below_cents: fc.maxSafeNat(),
      amount_cents: fc.oneof(fc.integer({ min: 900, max: 1_000_100 }), fc.maxSafeNat()),
    }),
    'put /v1/alerts': fields({
      thresholds: fc.array(
        fields({
          kind: fc.constantFrom('balance', 'runway'),
          below_micros: fc.maxSafeNat(),
          below_hours: fc.integer({ min: 0, max: 9_000 }),
        }),
        { maxLength: 11 },
      ),
    }),
    'put /v1/budgets/{id}': fields({
      key: text,
      room: fc.oneof(text, fc.constantFrom('*', 'demo-*')),
      customer: text,
      period: fc.constantFrom('day', 'month', 'total'),
      limit_micros: fc.oneof(fc.maxSafeNat(), fc.constantFrom(2 ** 53, 2 ** 63)),
      hard: fc.boolean(),
      alert_percents: fc.array(fc.integer({ min: 0, max: 101 }), { maxLength: 11 }),
    }),
    'delete /v1/budgets/{id}': junk,
    'post /v1/keys': fields({ name: text, kind: fc.constantFrom('backend', 'relay') }),
    'delete /v1/keys/{id}': junk,
    'post /v1/keys/{id}/rotate': fields({ overlap_seconds: fc.integer({ min: 0, max: 700_000 }) }),
    'post /v1/device-credentials': fields({
      name: text,
      publish: fc.array(fc.constantFrom('audio', 'video', 'screen', 'data')),
      rooms: fc.array(fc.oneof(text, fc.constantFrom('*', 'demo-*')), { maxLength: 3 }),
      default_room: fc.oneof(text, fc.constant('lobby')),
      expires_at: fc.oneof(
        text,
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
    }),
    'delete /v1/device-credentials/{id}': junk,
    'post /v1/device-credentials/{id}/rotate': fields({
      overlap_seconds: fc.integer({ min: 0, max: 700_000 }),
    }),
    'post /v1/usage': fields({
      records: fc.array(fc.oneof({ weight: 9, arbitrary: record }, { weight: 1, arbitrary: junk }), {
        maxLength: 4,
      }),
    }),
  };
  const header = fc.constantFrom<Record<string, string>>(
    {},
    {},
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'br' },
    { authorization: 'Bearer x' },
    { 'x-forwarded-for': 'unknown, \u00ff' },
    { 'x-http-method-override': 'DELETE' },
    { accept: 'text/html', 'accept-encoding': 'gzip' },
    { 'if-none-match': '*', range: 'bytes=0-1' },
  );
  const id = fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }),
    fc.stringMatching(/^[0-9a-f]{16}$/),
  );

  test.each(Object.keys(BODIES))('%s: its answers are documented, and never 5xx', async (name) => {
    const [method = '', pattern = ''] = name.split(' ');
    const operation = openApi.paths[pattern]![method]!;
    const key = pattern === '/v1/usage' ? tenant.relayKey : pattern === '/v1/signup' ? undefined : tenant.key;
    const withNoise = fc.tuple(fc.string({ unit: anyCharacter, maxLength: 3 }), fc.nat(60));
    let address = 0;
    await fc.assert(
      fc.asyncProperty(
        BODIES[name]!,
        header,
        id,
        fc.option(withNoise, { freq: 6 }),
        async (body, headers, keyId, noise) => {
          address += 1;
          let raw = JSON.stringify(body) ?? '';
          if (noise) raw = raw.slice(0, noise[1]) + noise[0] + raw.slice(noise[1]);
          const path = pattern.replace('{id}', encodeURIComponent(keyId.toWellFormed()));
          const answer = await ask(app.url + path, method.toUpperCase(), {
            key,
            raw,
            headers: {
              'x-forwarded-for': `10.${method.length}.${address >> 8}.${address & 255}`,
              ...headers,
            },
          });
          expect(answer.status, answer.text).toBeLessThan(500);
          // An id like "." or ".." is a path segment, not an id.
          if (answer.status !== 405 && answer.status !== 404) expectDocumented(operation, answer);
          if (answer.status >= 400) {
            expect(Object.keys(answer.json).filter((field) => field !== 'code')).toStrictEqual(['error']);
          }
          expectCommonHeaders(answer);
        },
      ),
      { numRuns: 300 },
    );
  });
});
