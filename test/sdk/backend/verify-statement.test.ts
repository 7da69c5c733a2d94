/**
 * Verifying statements offline. After a change of statement-vectors.ts, write the vectors again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/backend/verify-statement.test.ts && npm run format`.
 */
import { sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  STATEMENT_REFUSALS,
  StatementRefused,
  verifyStatement,
} from '../../../sdk/typescript/src/backend/index.ts';
import { signText } from '../../../src/access/tokens/jws.ts';
import { STATEMENT_TYPE } from '../../../src/access/tokens/sign-statement.ts';
import type { Signer } from '../../../src/access/tokens/signer.ts';
import { newSigningKey } from '../../../src/access/tokens/signing-key.ts';
import { textOf } from '../../../src/money/statements/statement-document.ts';
import { SAMPLE } from '../../money/statements/support.ts';
import { STATEMENT_VECTORS } from './statement-vectors.ts';

const PATH = new URL('../../../docs/vectors/statements.json', import.meta.url);
if (process.env.WRITE_VECTORS) writeFileSync(PATH, `${JSON.stringify(STATEMENT_VECTORS, undefined, 2)}\n`);
const file: typeof STATEMENT_VECTORS = JSON.parse(readFileSync(PATH, 'utf8'));

function codeOf(jws: string): string | null {
  try {
    verifyStatement(jws, file.keys);
    return null;
  } catch (error) {
    if (error instanceof StatementRefused) return error.code;
    throw error;
  }
}

describe('the vectors', () => {
  test('are those of statement-vectors.ts, but for the signatures', () => {
    // The signature is the last segment where there are three.
    const withoutSignature = ({ name, jws, code }: (typeof file.vectors)[number]) => ({
      name,
      signed: jws.split('.').slice(0, 2),
      code,
    });
    const made = STATEMENT_VECTORS.vectors.map(withoutSignature);
    // The answer of the service holds a signature inside.
    const isWhole = ({ name }: { name: string }) => name !== 'the JSON of the answer';
    expect(file.vectors.map(withoutSignature).filter(isWhole)).toStrictEqual(made.filter(isWhole));
    expect(file.keys).toStrictEqual(STATEMENT_VECTORS.keys);
  });

  test('have every refusal', () => {
    const codes = new Set(file.vectors.map(({ code }) => code).filter((code) => code !== null));
    expect([...codes]).toStrictEqual(Object.keys(STATEMENT_REFUSALS));
  });

  test.for(file.vectors)('$name', ({ jws, code }) => {
    expect(codeOf(jws)).toBe(code);
  });
});

test('a statement that the service signed is read as billing.statement() reads it', async () => {
  const { publicKey, privateKey } = await newSigningKey();
  const key = { key: privateKey, format: 'der', type: 'pkcs8', dsaEncoding: 'ieee-p1363' } as const;
  const signer: Signer = { sign: async (_kid, bytes) => sign('sha256', bytes, key) };
  const jws = await signText(signer, { kid: publicKey.kid, typ: STATEMENT_TYPE }, textOf(SAMPLE));
  const statement = verifyStatement(jws, { keys: [publicKey] });
  expect(statement).toMatchObject({
    iss: SAMPLE.issuer,
    tenant: { id: 't_0000000000000123' },
    month: '2026-10',
    from: SAMPLE.from,
    closing: { micros: SAMPLE.closing },
    usage: { sum: { egressBytes: 6n * 2n ** 54n } },
  });
});

test('a text beside the signature is refused with the reason', () => {
  expect(() => verifyStatement('x', file.keys)).toThrow(new StatementRefused('MALFORMED'));
  expect(() => verifyStatement(undefined as never, file.keys)).toThrow(StatementRefused);
});

test.each([undefined, null, {}, { keys: 'x' }])('%j is no set of keys', (keys) => {
  expect(() => verifyStatement('x', keys as never)).toThrow(new TypeError('keys must be a JSON Web Key Set'));
});

test.each([null, 'x', { kid: 5 }, { kid: 'a', kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }])(
  'the key %j is passed over',
  (key) => {
    const { jws } = file.vectors[0]!;
    const keys = [key as object, ...file.keys.keys];
    expect(verifyStatement(jws, { keys }).month).toBe('2026-10');
    expect(() => verifyStatement(jws, { keys: [key as object] })).toThrow(
      new StatementRefused('UNKNOWN_KEY'),
    );
  },
);
