/** Ids of a chunk come back as they were, in few bytes. */
import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { packIds, unpackIds } from '../../../../src/money/records/chunks/id-column.ts';
import { seeded } from '../../../support/seeded.ts';

const counted = (count: number, id: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => id(at));

/** As a chunk stores them. */
const bytesOf = (ids: readonly string[]) => deflateRawSync(packIds(ids)).length / ids.length;

describe('every id comes back', () => {
  test.each<[string, readonly string[]]>([
    ['none', []],
    ['of one byte', ['a', '0', '7', '9', ' ']],
    ['the longest', [`${'x'.repeat(199)}1`, '\u{1f600}'.repeat(200)]],
    ['numbers that grow by a digit', counted(200, (at) => `relay-${at + 95}`)],
    [
      'numbers with leading zeros that overflow',
      counted(30, (at) => `r-${String(at + 990).padStart(3, '0')}`),
    ],
    ['numbers alone, and zero', ['0', '00', '000', '1', '2', '3', '01', '02', '03']],
    ['numbers too long to be exact', counted(5, (at) => `9999999999999999999${at}`)],
    ['numbers that go back', ['a9', 'a3', 'a5', 'a0', 'a9']],
    [
      'UUIDs of either case',
      [randomUUID(), randomUUID().toUpperCase(), `${randomUUID()}0`, `x${randomUUID()}`],
    ],
    ...[1, 2, 3, 4, 5].map((count): [string, readonly string[]] => [
      `${count} UUIDs of one version`,
      counted(count, () => randomUUID()),
    ]),
    ['UUIDs of time', counted(50, (at) => `019234ab-${String(at).padStart(4, '0')}-7fff-bfff-ffffffffffff`)],
    ['UUIDs of two versions', [randomUUID(), '019234ab-cdef-7123-8abc-0123456789ab', randomUUID()]],
    [
      'UUIDs of another variant',
      [randomUUID(), '019234ab-cdef-4123-cabc-0123456789ab', '00000000-0000-4000-0000-000000000000'],
    ],
    ['line breaks and spaces', ['a\n1', 'a\n2', 'a\n3', ' 1', ' 2', ' 3', '1 1', '1 2', '1 3']],
    ['every code point of two bytes', counted(2_000, (at) => String.fromCodePoint(at + 1))],
  ])('%s', (_, ids) => expect(unpackIds(packIds(ids))).toEqual(ids));

  test('of any mixture', () => {
    const random = seeded(11);
    const pick = (texts: readonly string[]) => texts[Math.floor(random() * texts.length)]!;
    for (let round = 0; round < 300; round += 1) {
      const ids = counted(Math.floor(random() * 60), () =>
        random() < 0.2
          ? randomUUID()
          : pick(['', 'a', 'room-', '0', 'é', '9']) +
            pick(['', '7', '07', '0', `${Math.floor(random() * 1e17)}`, 'z']),
      );
      expect(unpackIds(packIds(ids))).toEqual(ids);
    }
  });
});

test('a numbered id takes a fifth of a byte, a UUID what differs between UUIDs', () => {
  const numbered = counted(
    10_000,
    (at) => `relay1-room${at % 160}-${String(Math.floor(at / 160)).padStart(6, '0')}`,
  );
  expect(bytesOf(numbered)).toBeLessThan(0.2);
  expect(bytesOf(counted(10_000, () => randomUUID()))).toBeLessThan(15.3);
});

test('long ids of digits are packed about as fast as others, as requests wait meanwhile', () => {
  const timeOf = (letter: string) => {
    const ids = counted(10_000, (at) => letter.repeat(190) + String(at).padStart(10, '0'));
    const times = counted(5, () => '').map(() => {
      const begun = process.cpuUsage();
      packIds(ids);
      return process.cpuUsage(begun).user;
    });
    return Math.min(...times);
  };
  expect(timeOf('9')).toBeLessThan(5 * timeOf('x'));
});
