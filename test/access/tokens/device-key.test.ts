import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  type DeviceKey,
  findThumbprint,
  parseThumbprint,
  thumbprintOf,
} from '../../../src/access/tokens/device-key.ts';
import { Failure } from '../../../src/base/failure.ts';
import { deviceKey } from '../../support/devices.ts';

describe('thumbprintOf', () => {
  test('follows RFC 7638, regardless of extra members and their order', async () => {
    const { x, y } = deviceKey();
    const expected = await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y });
    const more = { y, ext: true, x, kid: 'mine', crv: 'P-256', kty: 'EC' } as const;
    expect(thumbprintOf(more)).toBe(expected);
  });

  const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const numberOf = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const textOf = (value: bigint) =>
    Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64url');
  /** As OpenSSL sees it. */
  const isPoint = (key: DeviceKey) => {
    try {
      createPublicKey({ key: { ...key }, format: 'jwk' });
      return true;
    } catch {
      return false;
    }
  };

  test('accepts every point of the curve, and its negation', async () => {
    for (let times = 0; times < 50; times += 1) {
      const key = deviceKey();
      const mirror = { ...key, y: textOf(P - numberOf(key.y)) };
      expect(thumbprintOf(mirror)).not.toBe(thumbprintOf(key));
    }
  });

  test('refuses everything else', async () => {
    const key = deviceKey();
    const coordinate = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.constantFrom(
        0n,
        1n,
        P - 1n,
        P,
        P + 1n,
        numberOf(key.x),
        numberOf(key.y),
        numberOf(key.x) ^ 1n,
        2n ** 256n - 1n,
      ),
    );
    await fc.assert(
      fc.asyncProperty(coordinate, coordinate, async (x, y) => {
        const made = { kty: 'EC', crv: 'P-256', x: textOf(x), y: textOf(y) } as const;
        if (isPoint(made)) expect(thumbprintOf(made)).toBe(await calculateJwkThumbprint(made));
        else expect(() => thumbprintOf(made)).toThrow(Failure);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}B`, '*'.repeat(43)])(
    'refuses the coordinate %j',
    async (x) => {
      expect(() => thumbprintOf({ ...deviceKey(), x })).toThrow('key must be a point of P-256');
    },
  );
});

describe('parseThumbprint', () => {
  test('accepts 32 bytes in base64url, in one spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        if (bytes.length === 32) expect(parseThumbprint(text)).toBe(text);
        else expect(() => parseThumbprint(text)).toThrow(Failure);
      }),
    );
  });

  test.each([
    '',
    `${'A'.repeat(42)}B`,
    `${'A'.repeat(43)}=`,
    `${'A'.repeat(42)}+`,
    `${'A'.repeat(42)}/`,
    ` ${'A'.repeat(43)}`,
  ])('refuses %j', (text) => {
    expect(() => parseThumbprint(text)).toThrow('device must be a thumbprint');
  });
});

describe('findThumbprint', () => {
  test('accepts the key, the thumbprint, or both if they agree', async () => {
    const key = deviceKey();
    const device = thumbprintOf(key);
    expect(findThumbprint({ key })).toBe(device);
    expect(findThumbprint({ device })).toBe(device);
    expect(findThumbprint({ key, device })).toBe(device);
  });

  test('refuses a key and a thumbprint that disagree', async () => {
    const device = thumbprintOf(deviceKey());
    expect(() => findThumbprint({ key: deviceKey(), device })).toThrow(
      'device must be the thumbprint of key',
    );
  });

  test('refuses a request with neither', async () => {
    expect(() => findThumbprint({})).toThrow('key is required');
  });
});
