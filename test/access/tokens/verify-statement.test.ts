import { generateKeyPairSync, sign } from 'node:crypto';
import { compactVerify, createLocalJWKSet } from 'jose';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JwsError, signText } from '../../../src/access/tokens/jws.ts';
import {
  distrustSigningKey,
  removeSigningKey,
  replaceCompromisedKeys,
  rotateOnSchedule,
  rotateSigningKey,
} from '../../../src/access/tokens/rotate-signing-keys.ts';
import { STATEMENT_TYPE, signStatement } from '../../../src/access/tokens/sign-statement.ts';
import { DatabaseSigner, type Signer } from '../../../src/access/tokens/signer.ts';
import { newSigningKey, type PublicJwk } from '../../../src/access/tokens/signing-key.ts';
import { findSigningKeys, findStatementKeys } from '../../../src/access/tokens/signing-keys.sql.ts';
import { verifyStatement } from '../../../src/access/tokens/verify-statement.ts';
import { canonicalJson } from '../../../src/base/lib/canonical-json.ts';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';
import { NotAStatementError } from '../../../src/money/statements/read-statement.ts';
import { renderStatement, textOf } from '../../../src/money/statements/statement-document.ts';
import { SAMPLE } from '../../money/statements/support.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
const box = new SecretBox(Buffer.alloc(32, 1));
const turn = () => rotateOnSchedule(database.pool, box);
const keys = () => findStatementKeys(database.pool);
const signSample = () =>
  signStatement({ db: database.pool, signer: new DatabaseSigner(database.pool, box) }, SAMPLE);

/** Lets time pass by moving the keys' timestamps into the past. */
async function pass(time: string): Promise<void> {
  const times = ['published_at', 'activated_at', 'remove_at', 'removed_at'].map(
    (column) => `${column} = ${moved(column, `${time} ago`)}`,
  );
  await database.pool.query(`update signing_keys set ${times.join(', ')}`);
}

/** The next key signs, and the one that signed until now is removed. */
async function replaceKey(): Promise<void> {
  for (const time of ['30 days', '1 hour', '2 hours']) {
    await pass(time);
    await turn();
  }
}

beforeEach(async () => {
  await database.pool.query('delete from signing_keys');
  await turn();
});

describe('a signed statement', () => {
  test('is verified by the published keys, here and by any library', async () => {
    const jws = await signSample();
    const [key] = await keys();
    expect(verifyStatement(jws, [key!])).toEqual({ statement: SAMPLE, kid: key!.kid });
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet({ keys: [{ ...key! }] }));
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'statement+jwt', kid: key!.kid });
    expect(Buffer.from(payload).toString()).toBe(textOf(SAMPLE));
  });

  test('years later too, when its key signs no more and relays do not know it', async () => {
    const jws = await signSample();
    const [{ kid }] = (await keys()) as [PublicJwk];
    for (let rotation = 0; rotation < 3; rotation += 1) await replaceKey();
    const states = (await findSigningKeys(database.pool)).map(({ state }) => state);
    expect(states).toEqual(['active', 'removed', 'removed', 'removed']);
    expect(verifyStatement(jws, await keys()).kid).toBe(kid);
    expect(verifyStatement(await signSample(), await keys()).kid).not.toBe(kid);
  });

  test('is not verified by a key that may have leaked; signed again, it is', async () => {
    await replaceKey();
    const early = await signSample();
    await replaceKey();
    const late = await signSample();
    await replaceCompromisedKeys(database.pool, OPERATOR, box);
    // The first two keys were removed before, and so was their private part.
    expect(verifyStatement(early, await keys()).statement).toEqual(SAMPLE);
    const published = await keys();
    expect(() => verifyStatement(late, published)).toThrow(/^the key "[\w-]{43}" is not among the keys$/);
    expect(verifyStatement(await signSample(), await keys()).statement).toEqual(SAMPLE);
    await pass('10 years');
    expect(await keys()).toEqual(published);
  });

  test('is not verified by a removed key that leaked with an old backup, once an operator says so', async () => {
    const [{ kid }] = (await keys()) as [PublicJwk];
    await expect(distrustSigningKey(database.pool, OPERATOR, kid)).rejects.toThrow(
      `${kid} is active: replace it with activate --compromised`,
    );
    await expect(distrustSigningKey(database.pool, OPERATOR, 'x')).rejects.toThrow('there is no key x');
    const jws = await signSample();
    await replaceKey();
    expect(verifyStatement(jws, await keys()).kid).toBe(kid);
    const removedAt = async () =>
      (await findSigningKeys(database.pool)).find((each) => each.kid === kid)!.removedAt;
    const before = await removedAt();
    await distrustSigningKey(database.pool, OPERATOR, kid);
    const left = await keys();
    expect(() => verifyStatement(jws, left)).toThrow('is not among the keys');
    expect(await removedAt()).toEqual(before);
    expect(left).toHaveLength(1);
  });

  test('a key that is removed before it signs is not published for ever, and one that retires early is', async () => {
    const pending = await rotateSigningKey(database.pool, OPERATOR, box);
    expect((await keys()).map(({ kid }) => kid)).toContain(pending);
    await removeSigningKey(database.pool, OPERATOR, pending);
    expect((await keys()).map(({ kid }) => kid)).not.toContain(pending);

    const [{ kid }] = (await keys()) as [PublicJwk];
    await rotateSigningKey(database.pool, OPERATOR, box);
    await pass('1 hour');
    await turn();
    await pass('76 minutes');
    await removeSigningKey(database.pool, OPERATOR, kid);
    expect((await keys()).map((each) => each.kid)).toContain(kid);
  });
});

describe('refused', () => {
  let jws: string;
  let published: readonly PublicJwk[];
  let signer: Signer;
  const verifying = (file: string, by = published) => expect(() => verifyStatement(file, by));
  const answer = (changed: object = {}) =>
    canonicalJson({ statement: { ...renderStatement(SAMPLE), ...changed }, jws });

  beforeAll(async () => {
    const { publicKey, privateKey } = await newSigningKey();
    const key = { key: privateKey, format: 'der', type: 'pkcs8', dsaEncoding: 'ieee-p1363' } as const;
    signer = { sign: async (_kid, bytes) => sign('sha256', bytes, key) };
    published = [publicKey];
    jws = await signText(signer, { kid: publicKey.kid, typ: STATEMENT_TYPE }, textOf(SAMPLE));
  });

  test('nothing of what was signed, however the file is written', () => {
    const rewritten = `{ "more": 1,\n  "statement": ${textOf(SAMPLE)},\n  "jws": "${jws}" }\n`;
    for (const file of [jws, `\n${jws}\n`, answer(), rewritten]) {
      expect(verifyStatement(file, published).statement).toEqual(SAMPLE);
    }
  });

  test('another byte, wherever it is', () => {
    const other = (character: string) => (character === 'A' ? 'B' : 'A');
    for (let at = 0; at < jws.length; at += 1) {
      verifying(jws.slice(0, at) + other(jws[at]!) + jws.slice(at + 1)).toThrow(JwsError);
      verifying(jws.slice(0, at) + jws.slice(at + 1)).toThrow(JwsError);
    }
  });

  test('another spelling of the same bytes', () => {
    verifying(`${jws}=`).toThrow('it is not a JWS');
    verifying(`${jws}.`).toThrow('it is not a JWS');
    // The last character of a signature has four bits that mean nothing.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(jws.at(-1)!);
    const spelled = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'[last + 1]!;
    verifying(jws.slice(0, -1) + spelled).toThrow('it is not a JWS');
  });

  test('another statement beside the signature', () => {
    const message = 'the statement in the file is not the one that was signed';
    verifying(answer({ month: '2026-09' })).toThrow(message);
    verifying(answer({ closing: { micros: 52_999_997, display: '$52.999997' } })).toThrow(message);
    verifying('{}').toThrow('it has no statement with a signature');
    verifying(canonicalJson({ jws })).toThrow('it has no statement with a signature');
    verifying(`{"statement":`).toThrow('it is not JSON');
  });

  test('a key of the same id that is another one, or of another kind', () => {
    const [key] = published as [PublicJwk];
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
    verifying(jws, [{ ...key, ...other } as PublicJwk]).toThrow('the signature does not fit');
    verifying(jws, [{ ...key, ...p384 } as PublicJwk]).toThrow('is not one of P-256');
    verifying(jws, [{ kid: key.kid } as PublicJwk]).toThrow('is not one of P-256');
    verifying(jws, []).toThrow(`the key "${key.kid}" is not among the keys`);
  });

  test('what was signed as something else, or with another header', async () => {
    const [{ kid }] = published as [PublicJwk];
    const token = await signText(signer, { kid, typ: 'participant+jwt' }, textOf(SAMPLE));
    verifying(token).toThrow('its type is "participant+jwt", not statement+jwt');
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    const withHeader = async (header: object) => {
      const input = `${encode(JSON.stringify(header))}.${encode(textOf(SAMPLE))}`;
      const signature = await signer.sign(kid, Buffer.from(input));
      return `${input}.${signature.toString('base64url')}`;
    };
    verifying(await withHeader({ alg: 'none', kid, typ: STATEMENT_TYPE })).toThrow(
      'its algorithm is not ES256',
    );
    verifying(await withHeader({ alg: 'ES256', kid, typ: STATEMENT_TYPE, crit: ['x'] })).toThrow(
      'its header has other members',
    );
    verifying(await withHeader([])).toThrow('its type is undefined');
    for (const header of ['x', 'null', '5'])
      verifying(`${encode(header)}.${encode('x')}.${encode('x')}`).toThrow('it is not a JWS');
  });

  test('a signed text that is no statement, or does not add up', async () => {
    const [{ kid }] = published as [PublicJwk];
    const header = { kid, typ: STATEMENT_TYPE };
    const other = { ...SAMPLE, closing: 1n };
    verifying(await signText(signer, header, '{}')).toThrow(NotAStatementError);
    verifying(await signText(signer, header, textOf(other))).toThrow(
      'it does not add up: the closing balance is $52.999996 by the entries, and $0.000001 by the statement',
    );
  });
});
