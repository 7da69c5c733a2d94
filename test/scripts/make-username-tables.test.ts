import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { makeConfusables, makeTables, renderConfusables } from '../../scripts/make-username-tables.ts';
import { PROTOTYPES } from '../../src/access/usernames/confusables.ts';

const source = (name: string) =>
  readFile(new URL(`../../src/access/usernames/${name}`, import.meta.url), 'utf8');

it('makes the tables that are committed', async () => {
  expect(makeTables()).toBe(await source('tables.ts'));
});

it('makes the confusables that are committed, from their own content', async () => {
  const prototypes = new Map(
    [...PROTOTYPES].map(([character, target]) => [character.codePointAt(0)!, target]),
  );
  expect(prototypes.size).toBe(6_565);
  expect(renderConfusables(prototypes)).toBe(await source('confusables.ts'));
});

it('reads confusables.txt', () => {
  const text = [
    '\ufeff# confusables.txt',
    '# Version: 17.0.0',
    '',
    '0430 ;\t0061 ;\tMA\t# ( а → a ) CYRILLIC SMALL LETTER A → LATIN SMALL LETTER A\t# ',
    '006D ;\t0072 006E ;\tMA\t# ( m → rn ) LATIN SMALL LETTER M → LATIN SMALL LETTER R, LATIN SMALL LETTER N\t# ',
    '118E3 ;\t0072 006E ;\tMA\t#* ( 𑣣 → rn ) WARANG CITI DIGIT THREE → LATIN SMALL LETTER R, N\t# ',
    '# total: 3',
  ].join('\n');
  expect(makeConfusables(text)).toBe(
    renderConfusables(
      new Map([
        [0x430, 'a'],
        [0x6d, 'rn'],
        [0x118e3, 'rn'],
      ]),
    ),
  );
  expect(() => makeConfusables(text.replace('17.0.0', '16.0.0'))).toThrow('version 16.0.0');
});
