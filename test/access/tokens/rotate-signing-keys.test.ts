import { createPublicKey, verify } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  activateSigningKey,
  removeSigningKey,
  replaceCompromisedKeys,
  rotateOnSchedule,
  rotateSigningKey,
} from '../../../src/access/tokens/rotate-signing-keys.ts';
import { DatabaseSigner } from '../../../src/access/tokens/signer.ts';
import type { SigningKeyState } from '../../../src/access/tokens/signing-key.ts';
import { findPublicKeys, findSigningKeys } from '../../../src/access/tokens/signing-keys.sql.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { StartError } from '../../../src/base/lib/start-error.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
const box = new SecretBox(Buffer.alloc(32, 1));
const otherBox = new SecretBox(Buffer.alloc(32, 2));

beforeEach(async () => {
  await database.pool.query('delete from signing_keys');
});

const turn = () => rotateOnSchedule(database.pool, box);
const keys = async () => (await findSigningKeys(database.pool)).toReversed();
const states = async () => (await keys()).map((key) => key.state);
const kidOf = async (state: SigningKeyState) => (await keys()).find((key) => key.state === state)!.kid;
const published = async () => (await findPublicKeys(database.pool)).map((key) => key.kid);

/** Lets time pass by moving the keys' timestamps into the past. */
async function pass(time: string): Promise<void> {
  const times = ['published_at', 'activated_at', 'remove_at'].map(
    (column) => `${column} = ${moved(column, `${time} ago`)}`,
  );
  await database.pool.query(`update signing_keys set ${times.join(', ')}`);
}

describe('the schedule', () => {
  test('the first key of a deployment is active at once', async () => {
    await turn();
    expect(await states()).toStrictEqual(['active']);
    await turn();
    expect(await states()).toStrictEqual(['active']);
  });

  test('a key is published for an hour, signs for 30 days, and is published for 76 minutes more', async () => {
    await turn();
    await pass('29 days 23:59:00');
    await turn();
    expect(await states()).toStrictEqual(['active']);
    await pass('1 minute');
    await turn();
    expect(await states()).toStrictEqual(['active', 'pending']);
    expect(await published()).toHaveLength(2);

    await pass('59 minutes');
    await turn();
    expect(await states()).toStrictEqual(['active', 'pending']);
    await pass('1 minute');
    await turn();
    expect(await states()).toStrictEqual(['retiring', 'active']);
    expect(await published()).toHaveLength(2);

    await pass('75 minutes');
    await turn();
    expect(await states()).toStrictEqual(['retiring', 'active']);
    await pass('1 minute');
    await turn();
    expect(await states()).toStrictEqual(['removed', 'active']);
    expect(await published()).toStrictEqual([await kidOf('active')]);
  });

  test('over a year, there is always one active key, and it is published', async () => {
    await turn();
    const signed = new Set<string>();
    for (let day = 0; day < 366; day += 1) {
      const active = await kidOf('active');
      expect(await published()).toContain(active);
      signed.add(active);
      await pass('1 day');
      await turn();
    }
    // A successor is published at the first turn after 30 days, and is active after the next one.
    expect(signed.size).toBe(12);
    expect((await published()).length).toBeLessThanOrEqual(3);
  });

  test('removing a key deletes its private key', async () => {
    await turn();
    const old = await kidOf('active');
    await rotateSigningKey(database.pool, OPERATOR, box);
    await pass('1 hour');
    await turn();
    await pass('2 hours');
    await turn();
    const { rows } = await database.pool.query('select private_key from signing_keys where kid = $1', [old]);
    expect(rows).toStrictEqual([{ private_key: null }]);
    await expect(new DatabaseSigner(database.pool, box).sign(old, Buffer.from('x'))).rejects.toThrow(
      `there is no signing key ${old}`,
    );
  });

  test('ten concurrent processes create one key', async () => {
    await Promise.all(Array.from({ length: 10 }, turn));
    expect(await states()).toStrictEqual(['active']);
    await pass('30 days');
    await Promise.all(Array.from({ length: 10 }, turn));
    expect(await states()).toStrictEqual(['active', 'pending']);
    await pass('1 hour');
    await Promise.all(Array.from({ length: 10 }, turn));
    expect(await states()).toStrictEqual(['retiring', 'active']);
  });
});

describe('a key', () => {
  test('is named by its thumbprint, and published without its private part', async () => {
    await turn();
    const [jwk] = await findPublicKeys(database.pool);
    expect(Object.keys(jwk!).sort()).toStrictEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    expect(await calculateJwkThumbprint({ ...jwk! })).toBe(jwk!.kid);
  });

  test('is not stored in plain text', async () => {
    await turn();
    const { rows } = await database.pool.query('select kid, private_key from signing_keys');
    const plain = box.open(rows[0].private_key, rows[0].kid);
    const { rows: dump } = await database.pool.query('select signing_keys::text as row from signing_keys');
    // The 32 bytes of the secret number are inside of PKCS #8.
    for (let at = 0; at + 16 <= plain.length; at += 8) {
      expect(dump[0].row).not.toContain(plain.subarray(at, at + 16).toString('hex'));
    }
  });

  test('signs with r and s of 32 bytes each', async () => {
    await turn();
    const [jwk] = await findPublicKeys(database.pool);
    const bytes = Buffer.from('header.claims');
    const signature = await new DatabaseSigner(database.pool, box).sign(jwk!.kid, bytes);
    expect(signature).toHaveLength(64);
    const key = createPublicKey({ key: { ...jwk! }, format: 'jwk' });
    expect(verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  });

  test('does not sign after it was changed in the database', async () => {
    await turn();
    const kid = await kidOf('active');
    await database.pool.query(
      `update signing_keys set private_key = set_byte(private_key, 20, get_byte(private_key, 20) # 1)`,
    );
    const signer = new DatabaseSigner(database.pool, box);
    await expect(signer.sign(kid, Buffer.from('x'))).rejects.toThrow();
    await expect(turn()).rejects.toThrow(StartError);
    // Once it is restored, the same signer signs again.
    await database.pool.query(
      `update signing_keys set private_key = set_byte(private_key, 20, get_byte(private_key, 20) # 1)`,
    );
    expect(await signer.sign(kid, Buffer.from('x'))).toHaveLength(64);
  });

  test('cannot be decrypted in the row of another key', async () => {
    await turn();
    const first = await kidOf('active');
    const second = await rotateSigningKey(database.pool, OPERATOR, box);
    await database.pool.query(
      `update signing_keys set private_key = (select private_key from signing_keys where kid = $1) where kid = $2`,
      [first, second],
    );
    await expect(new DatabaseSigner(database.pool, box).sign(second, Buffer.from('x'))).rejects.toThrow();
  });
});

describe('another SECRETS_KEY', () => {
  test('is refused with the name of the key, and adds no key', async () => {
    await turn();
    const kid = await kidOf('active');
    await pass('31 days');
    const refusal = `SECRETS_KEY is not the one that the signing key ${kid} was encrypted with`;
    await expect(rotateOnSchedule(database.pool, otherBox)).rejects.toThrow(new StartError(refusal));
    await expect(rotateSigningKey(database.pool, OPERATOR, otherBox)).rejects.toThrow(refusal);
    expect(await states()).toStrictEqual(['active']);
  });

  test('lets only one of two processes start on an empty database', async () => {
    const outcomes = await Promise.allSettled([turn(), rotateOnSchedule(database.pool, otherBox)]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toStrictEqual(['fulfilled', 'rejected']);
    expect(await states()).toStrictEqual(['active']);
  });
});

describe('operators', () => {
  test('rotate: one successor is published, and the schedule activates it', async () => {
    await turn();
    const old = await kidOf('active');
    const next = await rotateSigningKey(database.pool, OPERATOR, box);
    await expect(rotateSigningKey(database.pool, OPERATOR, box)).rejects.toThrow(
      `${next} is pending already`,
    );
    expect(await kidOf('active')).toBe(old);
    await pass('1 hour');
    await turn();
    expect([await kidOf('active'), await kidOf('retiring')]).toStrictEqual([next, old]);
  });

  test('activate: refused until the key has been published for an hour', async () => {
    await turn();
    await expect(activateSigningKey(database.pool, OPERATOR)).rejects.toThrow('no key is pending');
    const next = await rotateSigningKey(database.pool, OPERATOR, box);
    await pass('59 minutes 30 seconds');
    await expect(activateSigningKey(database.pool, OPERATOR)).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining('relays would refuse its tokens'),
    });
    await pass('30 seconds');
    expect(await activateSigningKey(database.pool, OPERATOR)).toBe(next);
    expect(await states()).toStrictEqual(['retiring', 'active']);
  });

  test('compromised: a new key signs at once and all others are removed, even with another SECRETS_KEY', async () => {
    await turn();
    const old = [await kidOf('active'), await rotateSigningKey(database.pool, OPERATOR, box)];
    const fresh = await replaceCompromisedKeys(database.pool, OPERATOR, otherBox);
    expect(old).not.toContain(fresh);
    expect((await states()).sort()).toStrictEqual(['active', 'removed', 'removed']);
    expect(await published()).toStrictEqual([fresh]);
    await rotateOnSchedule(database.pool, otherBox);
    expect(await new DatabaseSigner(database.pool, otherBox).sign(fresh, Buffer.from('x'))).toHaveLength(64);
  });

  test('remove: only keys that have not signed yet, or signed long ago', async () => {
    await turn();
    const active = await kidOf('active');
    await expect(removeSigningKey(database.pool, OPERATOR, active)).rejects.toThrow(`${active} is active`);
    await expect(removeSigningKey(database.pool, OPERATOR, 'x')).rejects.toThrow('there is no key x');

    const pending = await rotateSigningKey(database.pool, OPERATOR, box);
    await removeSigningKey(database.pool, OPERATOR, pending);
    await removeSigningKey(database.pool, OPERATOR, pending);
    expect((await states()).sort()).toStrictEqual(['active', 'removed']);

    await rotateSigningKey(database.pool, OPERATOR, box);
    await pass('1 hour');
    await turn();
    await expect(removeSigningKey(database.pool, OPERATOR, active)).rejects.toThrow(
      `tokens that ${active} signed`,
    );
    await pass('76 minutes');
    await removeSigningKey(database.pool, OPERATOR, active);
    expect(await published()).toHaveLength(1);
  });
});

describe('the database', () => {
  test('allows at most one active and one pending key', async () => {
    await turn();
    await rotateSigningKey(database.pool, OPERATOR, box);
    for (const state of ['active', 'pending']) {
      const copy = database.pool.query(
        `insert into signing_keys (kid, alg, public_key, private_key, state, activated_at)
         values ($1, 'ES256', '{}', 'x', $2, now())`,
        ['A'.repeat(43), state],
      );
      await expect(copy).rejects.toThrow(`signing_keys_${state}`);
    }
  });
});
