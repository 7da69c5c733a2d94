/**
 * docs/vectors is up to date. After a change of vectors.ts, write it again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/relay/vectors.test.ts && npm run format`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REFUSALS } from '../../../sdk/typescript/src/relay/index.ts';
import { answerTo } from './present-vector.ts';
import { buildVectors, type VectorFile } from './vectors.ts';

const PATH = new URL('../../../docs/vectors/participant-tokens.json', import.meta.url);

if (process.env.WRITE_VECTORS) {
  const committed = existsSync(PATH) ? readFile().vectors : [];
  writeFileSync(PATH, `${JSON.stringify(await buildVectors(committed), undefined, 2)}\n`);
}
const file = readFile();

test('everything but the signatures is reproduced', async () => {
  // Through JSON, which leaves out what is undefined.
  expect(JSON.parse(JSON.stringify(await buildVectors(file.vectors)))).toEqual(file);
});

describe('the relay answers as the file says', () => {
  test.each(file.vectors)('$name: $code', async (vector) => {
    expect(await answerTo(file, vector)).toBe(vector.code);
  });
});

test('every code has a vector, except the one that needs a network', () => {
  const codes = new Set(file.vectors.map(({ code }) => code));
  expect(Object.keys(REFUSALS).filter((code) => !codes.has(code))).toEqual(['KEYS_UNAVAILABLE']);
});

test('every code is explained in docs/tokens.md', () => {
  const page = readFileSync(new URL('../../../docs/tokens.md', import.meta.url), 'utf8');
  expect(Object.keys(REFUSALS).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

test('every member of a vector, and of the session that it renews, is explained there as well', () => {
  const text = readFileSync(new URL('../../../docs/tokens.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## Test vectors'));
  const members = new Set(
    file.vectors.flatMap((vector) => [vector, vector.renews ?? {}].flatMap(Object.keys)),
  );
  const explained = (member: string) => section.includes(`\`${member}\``);
  expect([...members].filter((member) => !explained(member))).toEqual([]);
});

function readFile(): VectorFile {
  return JSON.parse(readFileSync(PATH, 'utf8'));
}
