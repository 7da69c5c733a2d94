import fc from 'fast-check';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, test } from 'vitest';
import { findThumbprint, parseThumbprint, thumbprintOf } from '../../../src/access/tokens/device-key.ts';
import { Failure } from '../../../src/base/failure.ts';
import { deviceKey } from '../../support/devices.ts';

describe('thumbprintOf', () => {
  test('follows RFC 7638, regardless of extra members and their order', async () => {
    const { x, y } = deviceKey();
    const expected = await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y });
    const more = { y, ext: true, x, kid: 'mine', crv: 'P-256', kty: 'EC' } as const;
    expect(await thumbprintOf(more)).toBe(expected);
  });

  // y^2 = x^3 - 3x + b over the prime field of P-256. Source: FIPS 186-4, D.1.2.3.
  const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
  const numberOf = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const textOf = (value: bigint) =>
    Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64url');
  const isPoint = (x: bigint, y: bigint) => x < P && y < P && (y * y - (x * x * x - 3n * x + B)) % P === 0n;

  test('accepts every point of the curve, and its negation', async () => {
    for (let times = 0; times < 50; times += 1) {
      const key = deviceKey();
      expect(isPoint(numberOf(key.x), numberOf(key.y))).toBe(true);
      const mirror = { ...key, y: textOf(P - numberOf(key.y)) };
      expect(await thumbprintOf(mirror)).not.toBe(await thumbprintOf(key));
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
        const outcome = await thumbprintOf(made).catch((error: unknown) => error);
        if (isPoint(x, y)) expect(outcome).toBe(await calculateJwkThumbprint(made));
        else expect(outcome).toBeInstanceOf(Failure);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}B`, '*'.repeat(43)])(
    'refuses the coordinate %j',
    async (x) => {
      await expect(thumbprintOf({ ...deviceKey(), x })).rejects.toThrow('key must be a point of P-256');
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
    const device = await thumbprintOf(key);
    expect(await findThumbprint({ key })).toBe(device);
    expect(await findThumbprint({ device })).toBe(device);
    expect(await findThumbprint({ key, device })).toBe(device);
  });

  test('refuses a key and a thumbprint that disagree', async () => {
    const device = await thumbprintOf(deviceKey());
    await expect(findThumbprint({ key: deviceKey(), device })).rejects.toThrow(
      'device must be the thumbprint of key',
    );
  });

  test('refuses a request with neither', async () => {
    await expect(findThumbprint({})).rejects.toThrow('key is required');
  });
});
