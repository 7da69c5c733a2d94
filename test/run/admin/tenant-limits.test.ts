import { beforeEach, describe, expect, it } from 'vitest';
import { expectError, expectOk } from '../../doors/rest/support.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { runAdmin } from './support.ts';

const app = useService({ payments: false });
const db = () => app.service.deps.db;
let tenant: TestTenant;

const admin = (...args: string[]) => runAdmin({ DATABASE_URL: db().options.connectionString! }, ...args);
const limits = (...args: string[]) => admin('tenants', 'limits', tenant.id, ...args);
const createKey = () => app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one more' } });

beforeEach(async () => {
  tenant = await app.signUp();
});

describe('tenants limits', () => {
  it('shows what applies to the tenant', async () => {
    const shown = await limits();
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^LIMIT +MAX +CHANGED +OF$/m);
    expect(shown.out).toMatch(/^api_keys +10 +no +live API keys$/m);
    expect(shown.out).toMatch(/^rooms +1000 +no +live rooms$/m);
  });

  it('sets and resets limits, which apply from then on', async () => {
    const set = await limits('--set', 'api_keys=3', 'rooms=7', '--json');
    expect(set).toMatchObject({
      code: 0,
      json: {
        id: tenant.id,
        status: 'pending',
        limits: {
          api_keys: { max: 3, changed: true },
          rooms: { max: 7, changed: true },
          bans: { max: 1_000, changed: false },
        },
      },
    });
    expectOk(await createKey(), 201);
    expectError(await createKey(), 409, 'limit reached: at most 3 live API keys');

    const reset = await limits('--reset', 'api_keys', 'rooms', '--json');
    expect(reset.json.limits).toMatchObject({
      api_keys: { max: 10, changed: false },
      rooms: { max: 1_000, changed: false },
    });
    expectOk(await createKey(), 201);
    // As for a tenant without changes.
    const { rows } = await db().query('select limits from tenants where id = $1', [idOf(tenant)]);
    expect(rows).toStrictEqual([{ limits: null }]);
  });

  it('keeps a record of each change, shown by tenants show', async () => {
    await limits('--set', 'bans=5', '--set', 'rooms=7', '--reason', 'a raid');
    await limits('--set', 'bans=5');
    await limits('--set', 'bans=6', '--reset', 'rooms');
    const { json, out } = await admin('tenants', 'show', tenant.id, '--json');
    expect(json.limits.bans, out).toStrictEqual({ max: 6, changed: true });
    const changes = json.limit_changes.map(({ at, ...change }: { at: string }) => {
      expect(at).toMatch(/Z$/);
      return change;
    });
    expect(changes).toHaveLength(4);
    expect(changes).toStrictEqual(
      expect.arrayContaining([
        { name: 'bans', from: null, to: 5, reason: 'a raid' },
        { name: 'rooms', from: null, to: 7, reason: 'a raid' },
        { name: 'bans', from: 5, to: 6, reason: null },
        { name: 'rooms', from: 7, to: null, reason: null },
      ]),
    );
    const shown = await admin('tenants', 'show', tenant.id);
    expect(shown.out).toMatch(/^bans +6 +yes +active bans$/m);
    expect(shown.out).toMatch(/^\S+Z +bans +- +5 +a raid$/m);
  });

  it.each([
    ['an unknown limit', ['--set', 'fish=5'], "'fish' is not one of event_streams, "],
    ['an unknown limit to reset', ['--reset', 'fish'], "'fish' is not one of event_streams, "],
    ['no value', ['--set', 'rooms'], 'It must be name=value, such as rooms=20000.'],
    ['an empty value', ['--set', 'rooms='], 'rooms must be a whole number from 1 to 1000000.'],
    ['zero', ['--set', 'rooms=0'], 'rooms must be a whole number from 1 to 1000000.'],
    ['a negative number', ['--set', 'rooms=-1'], 'rooms must be a whole number from 1 to 1000000.'],
    ['a fraction', ['--set', 'rooms=1.5'], 'rooms must be a whole number from 1 to 1000000.'],
    ['too much', ['--set', 'rooms=1000001'], 'rooms must be a whole number from 1 to 1000000.'],
    ['a limit both set and reset', ['--set', 'rooms=5', '--reset', 'rooms'], "'rooms' is both set and reset"],
  ])('does not understand %s', async (_, args, message) => {
    const refused = await limits(...args);
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
    const { rows } = await db().query('select limits from tenants where id = $1', [idOf(tenant)]);
    expect(rows).toStrictEqual([{ limits: null }]);
  });

  it('does not find an unknown tenant', async () => {
    expect(await admin('tenants', 'limits', 't_00000000000000ff', '--set', 'rooms=5')).toMatchObject({
      code: 1,
      out: '',
      err: 'tenant not found\n',
    });
  });
});

describe('the database', () => {
  it.each([
    ['[]'],
    ['{}'],
    ['5'],
    ['{"rooms": "5"}'],
    ['{"rooms": 0}'],
    ['{"rooms": 1.5}'],
    ['{"rooms": 1000001}'],
    ['{"rooms": null}'],
    ['{"bans": 5, "rooms": [5]}'],
  ])('refuses %s as limits', async (text) => {
    const stored = db().query('update tenants set limits = $2::jsonb where id = $1', [idOf(tenant), text]);
    await expect(stored).rejects.toThrow('tenants_limits');
  });
});
