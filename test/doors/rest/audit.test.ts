import { beforeAll, describe, expect, test } from 'vitest';
import { appendAudit } from '../../../src/base/audit/append-audit.sql.ts';
import { changeLimits } from '../../../src/base/limits/change-limits.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, setStatus } from './support.ts';

// The role of the service may insert, select, and erase addresses.
const app = useService({ isRestricted: true });
let tenant: TestTenant;
let other: TestTenant;
/** The key that the tenant created, rotated and revoked. */
let relay: string;

const db = () => app.service.deps.db;
const list = (key: string, query = '') => app.request('GET', `/v1/audit${query}`, { key });
const entriesOf = async (query = '') => expectOk(await list(tenant.key, query)).entries;
const headers = { 'x-forwarded-for': '203.0.113.9' };

beforeAll(async () => {
  tenant = await app.signUp();
  other = await app.signUp();
  const { key } = tenant;
  const body = { name: 'Frankfurt', kind: 'relay' };
  relay = expectOk(await app.request('POST', '/v1/keys', { key, body, headers }), 201).key.id;
  await app.request('DELETE', `/v1/keys/${relay}`, { key, headers });
  const limits = { set: { rooms: 7 }, reset: [], reason: 'a test' };
  await changeLimits(db(), OPERATOR, idOf(tenant), limits);
  await appendAudit(db(), null, OPERATOR, {
    action: 'rates_loaded',
    subject: '2',
    before: null,
    after: { version: 2 },
  });
  const credential = { name: 'of another', publish: ['audio'] };
  expectOk(await app.request('POST', '/v1/device-credentials', { key: other.key, body: credential }), 201);
});

describe('GET /v1/audit', () => {
  describe('200', () => {
    test('newest first, with the actor and what changed', async () => {
      const { entries } = expectOk(await list(tenant.key));
      const of = { id: expect.stringMatching(/^au_[0-9a-f]{32}$/), at: expect.stringMatching(TIMESTAMP) };
      const actor = { kind: 'key', id: tenant.keyId, address: '203.0.113.9' };
      expect(entries.slice(0, 3)).toStrictEqual([
        {
          ...of,
          // Which operator it was concerns the deployment alone.
          actor: { kind: 'operator' },
          action: 'tenant_limits_changed',
          subject: tenant.id,
          before: { rooms: null },
          after: { rooms: 7 },
        },
        {
          ...of,
          actor,
          action: 'key_revoked',
          subject: relay,
          before: { revoked_at: null },
          after: { revoked_at: expect.stringMatching(/^\d{4}-.*Z$/) },
        },
        { ...of, actor, action: 'key_created', subject: relay, after: { name: 'Frankfurt', kind: 'relay' } },
      ]);
    });

    test('of the tenant: nothing of others, nor of the whole service', async () => {
      const actions = (await entriesOf()).map(({ action }: { action: string }) => action);
      expect(actions).not.toContain('device_credential_created');
      expect(actions).not.toContain('rates_loaded');
    });

    test.each([
      ['?action=key_revoked', ['key_revoked']],
      [() => `?subject=${relay}`, ['key_revoked', 'key_created']],
      [() => `?subject=${relay}&action=key_created`, ['key_created']],
      ['?action=nothing_known', []],
      ['?to=2020-01-01', []],
      ['?from=2999-01-01', []],
      [() => `?from=2020-01-01&to=2999-01-01&subject=${relay}`, ['key_revoked', 'key_created']],
    ] as const)('filtered by %s', async (query, actions) => {
      const found = await entriesOf(typeof query === 'string' ? query : query());
      expect(found.map(({ action }: { action: string }) => action)).toStrictEqual(actions);
    });

    test('a page at a time', async () => {
      const all = await entriesOf();
      const found: unknown[] = [];
      let query = '?limit=2';
      for (;;) {
        const { entries, next_cursor } = expectOk(await list(tenant.key, query));
        found.push(...entries);
        if (next_cursor === undefined) break;
        expect(entries).toHaveLength(2);
        query = `?limit=2&cursor=${next_cursor}`;
      }
      expect(found).toStrictEqual(all);
    });

    test.each(['suspended', 'archived'] as const)('for a tenant that is %s', async (status) => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, status);
      expectOk(await list(fresh.key));
    });

    test('an address that a proxy made up is unknown', async () => {
      const fresh = await app.signUp();
      const made = { key: fresh.key, body: { name: 'x' } };
      expectOk(
        await app.request('POST', '/v1/keys', { ...made, headers: { 'x-forwarded-for': 'no, such' } }),
        201,
      );
      const { entries } = expectOk(await list(fresh.key, '?action=key_created&limit=1'));
      expect(entries[0].actor.address).toBe('unknown');
    });

    test('an address is erased after 400 days, and not before', async () => {
      const fresh = await app.signUp();
      const insert = `insert into audit_entries (id, tenant_id, at, actor_kind, actor_id, address, action)
                      values ($1, $2, now() - $3::interval, 'key', 'k', '192.0.2.1', 'aged')`;
      await db().query(insert, [`au_${fresh.keyId}o`, idOf(fresh), '400 days 1 minute']);
      await db().query(insert, [`au_${fresh.keyId}y`, idOf(fresh), '399 days 23 hours']);
      await sweep(app.service.deps);
      const { entries } = expectOk(await list(fresh.key, '?action=aged'));
      const addresses = entries.map(({ actor }: { actor: { address: string } }) => actor.address);
      expect(addresses).toStrictEqual(['192.0.2.1', '(erased)']);
    });
  });

  describe('400', () => {
    const period = 'must be a day or a time such as 2026-11-01T00:00:00Z';
    const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    const idOfEntry = async (key: string, at: number) => expectOk(await list(key)).entries.at(at).id;

    test.each([
      ['?limit=0', 'limit must be a number from 1 to 1000'],
      ['?limit=-1', 'limit must be a number from 1 to 1000'],
      ['?limit=x', 'limit must be a number from 1 to 1000'],
      ['?limit=1001', 'limit must be a number from 1 to 1000'],
      ['?limit=1&limit=2', 'limit must be string'],
      ['?action=', 'action must match pattern "^[a-z]+(_[a-z]+)*$"'],
      ['?action=Key', 'action must match pattern "^[a-z]+(_[a-z]+)*$"'],
      ['?action=key_', 'action must match pattern "^[a-z]+(_[a-z]+)*$"'],
      ['?action=%00', 'action must not contain NUL'],
      [`?action=${'a'.repeat(65)}`, 'action must not have more than 64 characters'],
      ['?action=a&action=b', 'action must be string'],
      ['?subject=', 'subject must match pattern "^[^\\u0000]+$"'],
      ['?subject=a%00b', 'subject must not contain NUL'],
      [`?subject=${'a'.repeat(201)}`, 'subject must not have more than 200 characters'],
      ['?from=x', `from ${period}`],
      ['?to=2026-13-01', `to ${period}`],
      ['?from=2026-11-02&to=2026-11-01', 'from must be before to'],
    ])('%s', async (query, what) => {
      expectError(await list(tenant.key, query), 400, `invalid request: ${what}`);
    });

    test.each([
      ['no cursor', () => 'x'],
      ['an empty one', () => ''],
      ['that of a key', () => cursorOf(tenant.keyId)],
      ['of an entry that there is not', () => cursorOf(`au_${'0'.repeat(32)}`)],
      [
        'of two entries',
        async () => cursorOf(await idOfEntry(tenant.key, 0), await idOfEntry(tenant.key, 1)),
      ],
      ['of the last entry', async () => cursorOf(await idOfEntry(tenant.key, -1))],
      ['of an entry of another tenant', async () => cursorOf(await idOfEntry(other.key, 0))],
    ])('refuses a cursor: %s', async (_what, cursor) => {
      const answer = await list(tenant.key, `?cursor=${await cursor()}`);
      expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
    });
  });

  test('400 for a parameter that it does not have', async () => {
    const answer = await list(tenant.key, `?tenant=${other.id}`);
    expectError(answer, 400, 'invalid request: tenant is not a known parameter');
  });

  test('401 without a key, for a wrong one, and for a relay key', async () => {
    expectError(await app.request('GET', '/v1/audit'), 401, 'invalid api key');
    expectError(await list(`${tenant.key.slice(0, -1)}!`), 401, 'invalid api key');
    expectError(await list(tenant.relayKey), 401, 'invalid api key');
  });

  test('403 for a deleted tenant', async () => {
    const fresh = await app.signUp();
    await setStatus(app, fresh, 'deleted');
    expectError(await list(fresh.key), 403, 'tenant is not active');
  });

  test('405 for a write', async () => {
    const answer = await app.request('DELETE', '/v1/audit', { key: tenant.key });
    expectError(answer, 405, 'method not allowed');
  });
});
