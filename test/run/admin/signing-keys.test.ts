import { beforeEach, describe, expect, it } from 'vitest';
import { rotateOnSchedule } from '../../../src/access/tokens/rotate-signing-keys.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { runAdmin } from './support.ts';

const database = useDatabase();
const secretsKey = Buffer.alloc(32, 1);
const admin = (...args: string[]) =>
  runAdmin(
    { DATABASE_URL: database.url, SECRETS_KEY: secretsKey.toString('base64') },
    'signing-keys',
    ...args,
  );
const KID = /^[\w-]{43}$/;

beforeEach(async () => {
  await database.pool.query('delete from signing_keys');
  await rotateOnSchedule(database.pool, new SecretBox(secretsKey));
});

describe('admin signing-keys', () => {
  it('lists the keys, without private parts', async () => {
    const { code, json } = await admin('list', '--json');
    expect(code).toBe(0);
    expect(json).toStrictEqual([
      {
        kid: expect.stringMatching(KID),
        state: 'active',
        published_at: expect.any(String),
        activated_at: expect.any(String),
        remove_at: null,
        removed_at: null,
      },
    ]);
    const text = await admin('list');
    expect(text.out).toMatch(/^KEY +STATE +PUBLISHED +ACTIVE SINCE +REMOVE AT +REMOVED\n/);
    expect(text.out).toContain(json[0].kid);
  });

  it('rotates once, and activates only what has been published for an hour', async () => {
    const { json: pending } = await admin('rotate', '--json');
    expect(pending).toStrictEqual({ kid: expect.stringMatching(KID), state: 'pending' });
    expect(await admin('rotate')).toMatchObject({
      code: 1,
      out: '',
      err: `${pending.kid} is pending already\n`,
    });
    expect(await admin('activate')).toMatchObject({
      code: 1,
      err: `${pending.kid} has been published for less than an hour: relays would refuse its tokens\n`,
    });
    await database.pool.query(`update signing_keys set published_at = ${moved('published_at', '-1 hour')}`);
    expect(await admin('activate')).toMatchObject({ code: 0, out: `${pending.kid} is active\n`, err: '' });
  });

  it('replaces keys that are compromised, with another SECRETS_KEY too', async () => {
    const env = { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32, 2).toString('base64') };
    const refused = await runAdmin(env, 'signing-keys', 'rotate');
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/^SECRETS_KEY is not the one /) });
    const { json } = await runAdmin(env, 'signing-keys', 'activate', '--compromised', '--json');
    expect(json).toStrictEqual({ kid: expect.stringMatching(KID), state: 'active' });
    const states = (await admin('list', '--json')).json.map((key: { state: string }) => key.state);
    expect(states.sort()).toStrictEqual(['active', 'removed']);
  });

  it('removes a pending key, and refuses to remove the active one', async () => {
    const [{ kid: active }] = (await admin('list', '--json')).json;
    const { json: pending } = await admin('rotate', '--json');
    expect(await admin('remove', '--', pending.kid)).toMatchObject({
      code: 0,
      out: `${pending.kid} is removed\n`,
    });
    expect(await admin('remove', '--', active)).toMatchObject({
      code: 1,
      err: `${active} is active: rotate and activate first\n`,
    });
  });

  it('distrusts a removed key, and no other', async () => {
    const { json: pending } = await admin('rotate', '--json');
    expect(await admin('distrust', '--', pending.kid)).toMatchObject({
      code: 1,
      err: `${pending.kid} is pending: replace it with activate --compromised\n`,
    });
    await admin('remove', '--', pending.kid);
    expect(await admin('distrust', '--', pending.kid)).toMatchObject({
      code: 0,
      out: `${pending.kid} is distrusted\n`,
    });
  });

  it('needs SECRETS_KEY to make a key, but not to list', async () => {
    const env = { DATABASE_URL: database.url };
    expect(await runAdmin(env, 'signing-keys', 'list')).toMatchObject({ code: 0 });
    expect(await runAdmin(env, 'signing-keys', 'rotate')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^SECRETS_KEY must be set when DATABASE_URL is/),
    });
    expect(await runAdmin({ ...env, SECRETS_KEY: 'hunter2' }, 'signing-keys', 'list')).toMatchObject({
      code: 2,
      err: 'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints\n',
    });
  });
});
