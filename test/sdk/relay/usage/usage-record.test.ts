import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkUsage,
  type ParticipantUsage,
  renderRecord,
  splitByDay,
  tierOf,
} from '../../../../sdk/typescript/src/relay/usage/usage-record.ts';
import { usage } from './reporters.ts';

describe('checkUsage', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a role it does not know', { role: 'guest' }],
    ['a tier it does not know', { tier: '4k' }],
    ['negative seconds', { seconds: -1 }],
    ['half a second', { seconds: 0.5 }],
    ['seconds that are no number', { seconds: Number.NaN }],
    ['more than a hundred days', { seconds: 8_640_001 }],
    ['negative bytes', { egressBytes: -1 }],
    ['bytes beyond what a number holds exactly', { ingressBytes: 2 ** 53 }],
    ['bytes as text', { egressBytes: '5' }],
    ['a session with a dot, which would blur the id', { sessionId: 'a.b' }],
    ['a session without a name', { sessionId: '' }],
    ['half a character', { room: '\ud83c' }],
    ['a NUL character', { participant: 'a\0b' }],
    ['a room of 201 characters', { room: 'r'.repeat(201) }],
    ['a participant of 201 characters', { participant: '😀'.repeat(201) }],
  ])('refuses %s', (_, fields) => {
    expect(() => checkUsage(usage(fields as Partial<ParticipantUsage>))).toThrow(
      expect.objectContaining({ code: 'invalid_usage' }),
    );
  });

  it('accepts names of 200 characters, as the service does', () => {
    checkUsage(usage({ room: '😀'.repeat(200), participant: 'p'.repeat(200) }));
  });

  it('accepts zero usage, and a hundred days', () => {
    checkUsage(usage({ seconds: 0, egressBytes: 0, ingressBytes: 0 }));
    checkUsage(usage({ seconds: 8_640_000, egressBytes: 2 ** 53 - 1 }));
  });
});

describe('splitByDay', () => {
  it('leaves a day as it is', () => {
    const day = usage({ seconds: 86_400 });
    expect(splitByDay(day)).toEqual([day]);
  });

  it('shares bytes by time, without losing or adding any', () => {
    const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(fc.integer({ min: 86_401, max: 8_640_000 }), count, count, (seconds, egress, ingress) => {
        const parts = splitByDay(usage({ seconds, egressBytes: egress, ingressBytes: ingress }));
        expect(parts).toHaveLength(Math.ceil(seconds / 86_400));
        for (const part of parts) expect(part.seconds).toBeLessThanOrEqual(86_400);
        for (const part of parts) expect(part.egressBytes).toBeGreaterThanOrEqual(0);
        const sum = (pick: (part: ParticipantUsage) => number) =>
          parts.reduce((total, part) => total + BigInt(pick(part)), 0n);
        expect(sum((part) => part.seconds)).toBe(BigInt(seconds));
        expect(sum((part) => part.egressBytes)).toBe(BigInt(egress));
        expect(sum((part) => part.ingressBytes)).toBe(BigInt(ingress));
      }),
    );
  });
});

describe('renderRecord', () => {
  it("uses the service's field names, and leaves out absent and empty fields", () => {
    expect(JSON.parse(renderRecord('r.b.0.1', usage({ tenant: '', room: 'main', participant: '' })))).toEqual(
      {
        id: 'r.b.0.1',
        room: 'main',
        role: 'host',
        tier: 'hd',
        seconds: 60,
        egress_bytes: 50_000_000,
        ingress_bytes: 1_000_000,
      },
    );
  });

  it('refuses a name that would fill a batch', () => {
    expect(() => renderRecord('a', usage({ room: 'x'.repeat(65_536) }))).toThrow(/65536 bytes/);
  });
});

it.each([
  [0, 'audio'],
  [1, 'hd'],
  [1280 * 720, 'hd'],
  [1280 * 720 + 1, 'full_hd'],
  [1920 * 1080, 'full_hd'],
  [1920 * 1080 + 1, '2k'],
  [2560 * 1440, '2k'],
  [2560 * 1440 + 1, '2k_plus'],
])('%i pixels are %s', (pixels, tier) => {
  expect(tierOf(pixels)).toBe(tier);
});
