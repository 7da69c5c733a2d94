import { beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { DEFAULT_CEILING } from '../../../src/access/rights/key-ceiling.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { runAdmin } from './support.ts';

const app = useService({ payments: false });
let tenant: TestTenant;
const admin = (...args: string[]) =>
  runAdmin({ DATABASE_URL: app.config.databaseUrl! }, 'key-ceiling', ...args);
const change = async (...args: string[]) => (await admin(tenant.keyId, ...args, '--json')).json;
const ALL = { capabilities: null, roles: null, rooms: null, rank: 80, lifetime_seconds: 900 };

beforeAll(async () => {
  tenant = await app.signUp();
});
beforeEach(async () => {
  await changeCeiling(app.service.deps.db, OPERATOR, tenant.keyId, DEFAULT_CEILING);
});

describe('admin key-ceiling', () => {
  it('shows the default ceiling', async () => {
    expect(await admin(tenant.relayKeyId, '--json')).toMatchObject({
      code: 0,
      json: { id: tenant.relayKeyId, ...ALL },
    });
    expect(await admin(tenant.relayKeyId)).toMatchObject({
      code: 0,
      out:
        `key           ${tenant.relayKeyId}\ncapabilities  all\nroles         all\nrooms         all\n` +
        'rank          80\nlifetime      900 s\n',
    });
  });

  it('changes the given limits, and leaves the rest', async () => {
    const lowered = await change('--capabilities', 'publish.audio,subscribe.audio', '--rank', '0');
    expect(lowered).toMatchObject({ capabilities: ['publish.audio', 'subscribe.audio'], rank: 0 });
    const args = ['--roles', 'audience,host,audience', '--rooms', 'class-*,lobby', '--lifetime', '1'];
    const expected = {
      id: tenant.keyId,
      capabilities: ['publish.audio', 'subscribe.audio'],
      roles: ['audience', 'host'],
      rooms: ['class-*', 'lobby'],
      rank: 0,
      lifetime_seconds: 1,
    };
    expect(await change(...args)).toStrictEqual(expected);
    expect(await change()).toStrictEqual(expected);
    expect((await admin(tenant.keyId)).out).toContain('\nrooms         class-*, lobby\n');
    expect((await admin(tenant.relayKeyId, '--json')).json).toMatchObject(ALL);
  });

  it('accepts a star for all, and limits together with --reset', async () => {
    await change('--roles', 'host', '--rooms', 'lobby', '--capabilities', 'chat.send', '--rank', '99');
    expect(await change('--roles', '*', '--rooms', '*')).toMatchObject({
      ...ALL,
      capabilities: ['chat.send'],
      rank: 99,
    });
    expect(await change('--reset', '--lifetime', '60')).toMatchObject({ ...ALL, lifetime_seconds: 60 });
  });

  it('refuses a key that does not exist', async () => {
    expect(await admin('0123456789abcdef', '--rank', '1')).toMatchObject({ code: 1, err: 'key not found\n' });
    expect(await admin('0123456789abcdef')).toMatchObject({ code: 1, err: 'key not found\n' });
  });

  const tooMany = Array.from({ length: 101 }, (_, at) => `room-${at}`).join(',');
  test.each([
    ['--capabilities', 'chat.shout', "'chat.shout' is not one of "],
    ['--capabilities', '', "'' is not one of "],
    ['--roles', 'host,*', "'*' is not one of host, audience, broadcast_audience"],
    ['--rooms', 'lobby,', "'' is no name or pattern of rooms"],
    ['--rooms', tooMany, '100 names and patterns at most'],
    ['--rank', '100', 'a whole number from 0 to 99'],
    ['--rank', '-1', 'a whole number from 0 to 99'],
    ['--rank', '1.5', 'a whole number from 0 to 99'],
    ['--lifetime', '0', 'a whole number from 1 to 900'],
    ['--lifetime', '901', 'a whole number from 1 to 900'],
  ])('does not understand %s %s', async (option, value, message) => {
    expect(await admin(tenant.keyId, option, value)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(message),
    });
  });

  it('rejects malformed ids', async () => {
    expect(await admin('8F3C')).toMatchObject({ code: 2, err: expect.stringContaining('16 hex digits') });
  });

  it('takes effect at the next look-up of the key', async () => {
    await change('--rooms', 'lobby');
    expect((await app.service.deps.keyLookups.find(tenant.keyId))?.ceiling).toStrictEqual({
      ...DEFAULT_CEILING,
      rooms: ['lobby'],
    });
  });
});
