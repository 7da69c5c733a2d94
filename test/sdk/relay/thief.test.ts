/**
 * Attacks with a stolen or forged token. All are refused without the network. Most are data, in
 * docs/vectors/thief.json. After a change of thief-vectors.ts, write it again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/relay/thief.test.ts && npm run format`.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { base64url } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdmissionRefused, type Attempt, REFUSALS } from '../../../sdk/typescript/src/relay/index.ts';
import { anyCharacter } from '../../support/characters.ts';
import { answerTo } from './present-vector.ts';
import {
  attemptWith,
  codeOf,
  createRelay,
  mint,
  proofClaims,
  prove,
  sign,
  tokenClaims,
  tokenHeader,
} from './support.ts';
import { buildThiefVectors } from './thief-vectors.ts';
import type { VectorFile } from './vectors.ts';

const PATH = new URL('../../../docs/vectors/thief.json', import.meta.url);
const readFile = (): VectorFile => JSON.parse(readFileSync(PATH, 'utf8'));

if (process.env.WRITE_VECTORS) {
  const committed = existsSync(PATH) ? readFile().vectors : [];
  writeFileSync(PATH, `${JSON.stringify(await buildThiefVectors(committed), undefined, 2)}\n`);
}
const file = readFile();

const fetchOfThePlatform = vi.fn(async () => expect.fail('the network was used'));
beforeEach(() => vi.stubGlobal('fetch', fetchOfThePlatform));
afterEach(() => vi.unstubAllGlobals());

type Relay = ReturnType<typeof createRelay>;

/** Present a token, with a proof by the rightful device, to a relay that serves its tenant and room. */
async function present(token: string, relay: Relay = createRelay()): Promise<string | undefined> {
  const challenge = relay.challenge();
  return await codeOf(relay.verify(attemptWith(token, await prove(token, challenge), challenge)));
}

/** Present a valid token and proof over a modified connection. */
async function presentOver(changes: Partial<Attempt>): Promise<string | undefined> {
  const relay = createRelay();
  const [token, challenge] = [await mint(), relay.challenge()];
  const attempt = attemptWith(token, await prove(token, challenge), challenge);
  return await codeOf(relay.verify({ ...attempt, ...changes }));
}

test('everything but the signatures of the file is reproduced', async () => {
  // Through JSON, which leaves out what is undefined.
  expect(JSON.parse(JSON.stringify(await buildThiefVectors(file.vectors)))).toEqual(file);
});

test('every vector has a name of its own, and only the rightful device is admitted', () => {
  expect(new Set(file.vectors.map(({ name }) => name)).size).toBe(file.vectors.length);
  expect(file.vectors.filter(({ code }) => code === null)).toEqual([file.vectors[0]]);
});

describe('the relay refuses', () => {
  test.each(file.vectors)('$name: $code', async (vector) => {
    expect(await answerTo(file, vector)).toBe(vector.code);
  });
});

test('a copied token without any proof', async () => {
  const relay = createRelay();
  const attempt = attemptWith(await mint(), undefined as never, relay.challenge());
  expect(await codeOf(relay.verify(attempt))).toBe('PROOF_MALFORMED');
});

describe('a copied proof', () => {
  test('again, with its challenge', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    expect(await codeOf(relay.verify(attempt))).toBeUndefined();
    expect(await codeOf(relay.verify(attempt))).toBe('CHALLENGE_UNUSABLE');
  });

  test('with a challenge of another relay', async () => {
    const [relay, other] = [createRelay(), createRelay()];
    const [token, challenge] = [await mint(), other.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    expect(await codeOf(relay.verify(attempt))).toBe('CHALLENGE_UNUSABLE');
    expect(await codeOf(other.verify(attempt))).toBeUndefined();
  });

  test.each([
    ['without any challenge', undefined],
    ['with a challenge that is no text', 7],
  ])('%s', async (_, nonce) => {
    const token = await mint();
    const attempt = attemptWith(token, await prove(token, nonce as never), nonce as never);
    expect(await codeOf(createRelay().verify(attempt))).toBe('CHALLENGE_UNUSABLE');
  });
});

describe('garbage', () => {
  test.each([[null], [7], [{}], [['e30.e30.AAAA']]])('that is not a string: %j', async (value) => {
    expect(await presentOver({ token: value as never })).toBe('TOKEN_MALFORMED');
    expect(await presentOver({ proof: value as never })).toBe('PROOF_MALFORMED');
  });

  test('a signed payload that is not an object', async () => {
    for (const payload of [[], null, 7, 'text']) {
      expect(await present(await sign(tokenHeader(), payload))).toBe('TOKEN_MALFORMED');
    }
  });

  test('of any kind ends in a refusal with a code from the table', async () => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const proof = await prove(token, challenge);
    const segment = fc.oneof(
      fc.string().map((text) => base64url.encode(text)),
      fc.json().map((text) => base64url.encode(text)),
      fc.constantFrom(...token.split('.'), ...proof.split('.')),
    );
    const text = fc.oneof(
      fc.array(segment, { minLength: 2, maxLength: 4 }).map((segments) => segments.join('.')),
      fc.string({ unit: anyCharacter, maxLength: 5000 }),
      fc.anything(),
    );
    const attempts = fc.oneof(
      fc.record({ token: text }),
      fc.record({ proof: text }),
      fc.record({ token: text, proof: text, challenge: fc.anything() }),
    );
    await fc.assert(
      fc.asyncProperty(attempts, async (garbage) => {
        const attempt = { ...attemptWith(token, proof, challenge), ...garbage } as Attempt;
        fc.pre(attempt.token !== token || attempt.proof !== proof);
        expect(REFUSALS).toHaveProperty(String(await codeOf(relay.verify(attempt))));
      }),
      { numRuns: 500 },
    );
    expect(await codeOf(relay.verify(attemptWith(token, proof, challenge)))).toBeUndefined();
  });

  test('signed claims of any kind end in a refusal too', async () => {
    const relay = createRelay();
    const name = fc.constantFrom(...Object.keys(tokenClaims()));
    const proofName = fc.constantFrom(...Object.keys(proofClaims('', '')));
    const value = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    await fc.assert(
      fc.asyncProperty(name, value, proofName, value, async (claim, one, proofClaim, other) => {
        const token = await mint({ [claim]: one });
        const challenge = relay.challenge();
        const proof = await prove(token, challenge, { [proofClaim]: other });
        // Some values are as valid as the original (another jti); none may cause another kind of error.
        await codeOf(relay.verify(attemptWith(token, proof, challenge)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a single character', () => {
  const characters = fc.oneof(
    fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  );

  test.each(['token', 'proof'] as const)('of the %s cannot be changed', async (what) => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    const original = attempt[what];
    const place = fc.oneof(fc.nat(original.length - 1), fc.constant(original.length - 1));
    await fc.assert(
      fc.asyncProperty(place, characters, async (at, character) => {
        fc.pre(original[at] !== character);
        const changed = original.slice(0, at) + character + original.slice(at + 1);
        expect(await codeOf(relay.verify({ ...attempt, [what]: changed }))).toBeDefined();
      }),
      { numRuns: 500 },
    );
    expect(await codeOf(relay.verify(attempt))).toBeUndefined();
  });

  test.each(['token', 'proof'] as const)('at the end of the %s has one spelling only', async (what) => {
    const relay = createRelay();
    const [token, challenge] = [await mint(), relay.challenge()];
    const attempt = attemptWith(token, await prove(token, challenge), challenge);
    for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      if (attempt[what].endsWith(character)) continue;
      const changed = attempt[what].slice(0, -1) + character;
      expect(await codeOf(relay.verify({ ...attempt, [what]: changed }))).toBeDefined();
    }
  });
});

test('a refusal reveals nothing of token and proof', async () => {
  const secret = randomBytes(16).toString('hex');
  const header = base64url.encode(`{"typ":"${secret}`);
  const token = await mint({ sub: secret, exp: 1 });
  const attempts = [`${header}.e30.AAAA`, token, token.slice(0, -9), `${secret}.${secret}.${secret}`];
  for (const text of attempts) {
    for (const what of ['token', 'proof']) {
      const relay = createRelay();
      const good = await mint();
      const challenge = relay.challenge();
      const attempt = { ...attemptWith(good, await prove(good, challenge), challenge), [what]: text };
      const error = await relay.verify(attempt).then(
        () => expect.fail('accepted'),
        (refusal: AdmissionRefused) => refusal,
      );
      const told = `${error.message} ${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`;
      expect(told).not.toContain(secret);
      for (const part of text.split('.').filter((each) => each.length > 8)) expect(told).not.toContain(part);
    }
  }
});

test('no test here used the network', () => {
  expect(fetchOfThePlatform).not.toHaveBeenCalled();
});
