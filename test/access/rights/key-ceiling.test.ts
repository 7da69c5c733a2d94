import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_CEILING,
  type KeyCeiling,
  refuseBeyondCeiling,
  refuseWiderCeiling,
  type TokenGrant,
} from '../../../src/access/rights/key-ceiling.ts';
import { matchesRoom } from '../../../src/access/rights/room-names.ts';
import type { Failure } from '../../../src/base/failure.ts';

const GRANT: TokenGrant = { role: 'audience', rank: 20, capabilities: ['chat.send'], lifetimeSeconds: 600 };

/** The excess; `undefined`: there is none. */
function excessOf(allowed: readonly string[] | null, rooms: readonly string[], grant = GRANT) {
  try {
    refuseBeyondCeiling({ ...DEFAULT_CEILING, rooms: allowed }, grant, rooms);
    return undefined;
  } catch (error) {
    const { kind, metadata } = error as Failure;
    expect(kind).toBe('ceiling_exceeded');
    return metadata.excess;
  }
}

describe('rooms within a ceiling', () => {
  test.each<[string[] | null, string[], string | undefined]>([
    [null, ['*'], undefined],
    [['*'], ['*'], undefined],
    [['class-*'], ['class-1', 'class-*', 'class-a*', 'class-*-*'], undefined],
    [['class-*', 'lobby'], ['lobby', 'class-1'], undefined],
    [['class-*'], ['*'], 'room *'],
    [['class-*'], ['class*'], 'room class*'],
    [['class-*'], ['c*', 'class-1', 'lobby'], 'room c*, room lobby'],
    [['lobby'], ['lobby*'], 'room lobby*'],
    // Each pattern is checked separately: together they would cover it.
    [['a*', '*a'], ['*'], 'room *'],
  ])('ceiling %j, rooms %j: the excess is %j', (allowed, rooms, excess) => {
    expect(excessOf(allowed, rooms)).toBe(excess);
  });

  test('only the first few are listed', () => {
    const rooms = Array.from({ length: 100 }, (_, at) => `room-${at}`);
    expect(excessOf(['lobby'], rooms)).toBe(
      'room room-0, room room-1, room room-2, room room-3, room room-4',
    );
  });

  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 6 });
  const fillings = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }), {
    minLength: 6,
    maxLength: 6,
  });

  test('a pattern within the ceiling matches nothing beyond it', () => {
    fc.assert(
      fc.property(patterns, patterns, fillings, (allowed, pattern, parts) => {
        if (excessOf([allowed], [pattern]) !== undefined) return;
        let at = 0;
        expect(
          matchesRoom(
            allowed,
            pattern.replaceAll('*', () => parts[at++]!),
          ),
        ).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

test('the message lists the excess too, for doors that report only the message', () => {
  const grant = { ...GRANT, rank: 90, lifetimeSeconds: 901 };
  expect(() => refuseBeyondCeiling(DEFAULT_CEILING, grant, [])).toThrow(
    /^permission denied: beyond the ceiling of this key: rank 90, lifetime 901 s$/,
  );
});

describe('a ceiling within another one', () => {
  const NARROW: KeyCeiling = {
    capabilities: ['chat.send', 'self.update'],
    roles: ['audience'],
    rooms: ['class-*'],
    rank: 20,
    lifetimeSeconds: 60,
  };
  const excessOver = (ceiling: KeyCeiling, other: KeyCeiling) => {
    try {
      refuseWiderCeiling(ceiling, other);
      return undefined;
    } catch (error) {
      const { kind, metadata } = error as Failure;
      expect(kind).toBe('ceiling_exceeded');
      return metadata.excess;
    }
  };

  test.each<[Partial<KeyCeiling>, string | undefined]>([
    [{}, undefined],
    [
      { capabilities: ['chat.send'], roles: ['audience'], rooms: ['class-1'], rank: 0, lifetimeSeconds: 1 },
      undefined,
    ],
    [{ capabilities: ['chat.send', 'room.end'] }, 'room.end'],
    [{ capabilities: null }, 'all capabilities'],
    [{ roles: ['audience', 'host'] }, 'role host'],
    [{ roles: null }, 'all roles'],
    [{ rooms: ['class-1', 'lobby'] }, 'room lobby'],
    [{ rooms: null }, 'room *'],
    [{ rank: 21 }, 'rank 21'],
    [{ lifetimeSeconds: 61 }, 'lifetime 61 s'],
  ])('%j: the excess is %j', (change, excess) => {
    expect(excessOver(NARROW, { ...NARROW, ...change })).toBe(excess);
  });

  test('every ceiling is within itself and the default', () => {
    for (const each of [NARROW, DEFAULT_CEILING]) {
      expect(excessOver(each, each)).toBeUndefined();
      expect(excessOver(DEFAULT_CEILING, each)).toBeUndefined();
    }
    expect(excessOver(NARROW, DEFAULT_CEILING)).toBe(
      'all capabilities, all roles, room *, rank 80, lifetime 900 s',
    );
  });
});
