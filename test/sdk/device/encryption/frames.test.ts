/** Frames that are encrypted and decrypted: what of them can be read, and by whom. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameSize } from '../../../../relay/src/frame-size.ts';
import { workerModule } from '../../../../scripts/make-encryption-worker.ts';
import { FrameDecryptor } from '../../../../sdk/typescript/src/device/encryption/frame-decryptor.ts';
import { FrameEncryptor } from '../../../../sdk/typescript/src/device/encryption/frame-encryptor.ts';
import type { Codec } from '../../../../sdk/typescript/src/device/encryption/frame-layout.ts';
import { WORKER_SOURCE } from '../../../../sdk/typescript/src/device/encryption/worker-source.ts';

const importKey = (byte: number) =>
  crypto.subtle.importKey('raw', new Uint8Array(32).fill(byte), 'HKDF', false, ['deriveKey']);
const [KEY, OTHER_KEY] = [await importKey(1), await importKey(2)];
const ANN = { room: 'lobby', username: 'ann' };

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const NOISE = Uint8Array.from({ length: 300 }, (_, at) => (at * 37) % 256);
const join = (...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));

/** As Chromium's encoders made them; what is behind the first bytes is noise. */
const FRAMES = {
  sound: ['audio/opus', join(hex('78 85 2a'), NOISE)],
  'a key frame of VP8': ['video/VP8', join(hex('30 34 00 9d 01 2a 80 02 68 01 39 61'), NOISE)],
  'another frame of VP8': ['video/VP8', join(hex('91 0d 00 e4 b8'), NOISE)],
  'a key frame of H.264': [
    'video/H264',
    join(
      hex('00 00 00 01 67 42 c0 1f 8c 8d 40 50 17 fc b3 70 10 d0 10 78 44 23 50 00 00 00 01 68 ce 3c 80'),
      hex('00 00 00 01 65 b8 00 04 00 00 05 38'),
      NOISE,
    ),
  ],
  'another frame of H.264': ['video/H264', hex('00 00 00 01 61 e0 00 40 00 be 40 53 80 39 98')],
  'a frame of H.264 in two slices': [
    'video/H264',
    join(hex('00 00 01 61 e0 00 40'), NOISE, hex('00 00 01 61 44 00 40'), NOISE),
  ],
} as const satisfies Record<string, readonly [Codec, Uint8Array]>;
const EACH = Object.entries(FRAMES).map(([name, [codec, frame]]) => [name, codec, frame] as const);
const [, VP8_KEY_FRAME] = FRAMES['a key frame of VP8'];

const encrypt = async (codec: Codec, frame: Uint8Array, origin = ANN, key = KEY) =>
  (await new FrameEncryptor(origin).encrypt(key, codec, frame))!;
const decrypt = (codec: Codec, frame: Uint8Array, origin = ANN, keys: readonly CryptoKey[] = [KEY]) =>
  new FrameDecryptor(origin).decrypt(keys, codec, frame);

function pixelsOf(codec: 'VP8' | 'H264', payload: Uint8Array): number {
  const size = new FrameSize(codec);
  size.take(Buffer.from(payload));
  return size.pixels;
}
const pixelsOfVp8 = (frame: Uint8Array) => pixelsOf('VP8', join(hex('10'), frame));

/** What packets carry of a frame: its units without start codes. */
function unitsOf(frame: Uint8Array): Uint8Array[] {
  const text = Buffer.from(frame).toString('latin1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a start code has them.
  const units = text.split(/\x00\x00\x00?\x01/);
  return units.slice(1).map((unit) => Uint8Array.from(Buffer.from(unit, 'latin1')));
}

/** As a receiver puts it together again: each unit behind a long start code. */
const reassemble = (frame: Uint8Array) =>
  join(...unitsOf(frame).flatMap((unit) => [hex('00 00 00 01'), unit]));

describe.each(EACH)('%s', (_name, codec, frame) => {
  test('is the same after decryption', async () => {
    expect(await decrypt(codec, await encrypt(codec, frame))).toEqual(frame);
  });

  test('shows nothing but the beginning of its header', async () => {
    const clear = codec === 'audio/opus' ? 0 : codec === 'video/VP8' ? 10 : 35;
    const encrypted = Buffer.from(await encrypt(codec, frame));
    for (let at = clear; at + 8 <= frame.length; at += 1) {
      expect(encrypted.includes(Buffer.from(frame.subarray(at, at + 8)))).toBe(false);
    }
  });

  test('is not decrypted with another key, as that of another participant or room, or changed', async () => {
    const encrypted = await encrypt(codec, frame);
    expect(await decrypt(codec, encrypted, ANN, [OTHER_KEY])).toBeUndefined();
    expect(await decrypt(codec, encrypted, ANN, [])).toBeUndefined();
    expect(await decrypt(codec, encrypted, { ...ANN, username: 'bob' })).toBeUndefined();
    expect(await decrypt(codec, encrypted, { ...ANN, room: 'attic' })).toBeUndefined();
    expect(await decrypt(codec, frame)).toBeUndefined();
    for (let at = 0; at < encrypted.length; at += 1) {
      const changed = encrypted.slice();
      changed[at]! ^= 0x40;
      const plain = await decrypt(codec, changed);
      // A start code may become longer or shorter on the way, and says nothing.
      if (plain !== undefined) expect(plain.slice(4)).toEqual(frame.slice(4));
    }
  });
});

test('a relay reads the size of pictures', async () => {
  expect(pixelsOfVp8(await encrypt('video/VP8', VP8_KEY_FRAME))).toBe(640 * 360);
  const [codec, frame] = FRAMES['a key frame of H.264'];
  const [parameters] = unitsOf(await encrypt(codec, frame));
  expect(pixelsOf('H264', parameters!)).toBe(640 * 360);
});

test('in H.264, nothing that is encrypted looks like a start code, and the length of start codes does not matter', async () => {
  const slice = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 3, 0x65, 0xff), { maxLength: 200 });
  const check = async (rest: number[]) => {
    const frame = join(hex('00 00 01 67 42 c0 1f 8c 00 00 01 65 b8 00 00'), Uint8Array.from(rest));
    const encrypted = await encrypt('video/H264', frame);
    expect(unitsOf(encrypted)).toHaveLength(2);
    const plain = (await decrypt('video/H264', reassemble(encrypted))) as Uint8Array;
    expect(plain.slice(-3 - rest.length)).toEqual(frame.slice(-3 - rest.length));
  };
  await fc.assert(fc.asyncProperty(slice, check), { numRuns: 200 });
});

test('no two frames are encrypted alike, by one sender or by two', async () => {
  const one = new FrameEncryptor(ANN);
  const two = new FrameEncryptor(ANN);
  const trailers = new Set<string>();
  for (let count = 0; count < 100; count += 1) {
    for (const sender of [one, two]) {
      const encrypted = (await sender.encrypt(KEY, 'audio/opus', NOISE))!;
      trailers.add(String(encrypted.slice(-18)));
    }
  }
  expect(trailers.size).toBe(200);
});

test('a frame that comes again is told from the first', async () => {
  const decryptor = new FrameDecryptor(ANN);
  const encryptor = new FrameEncryptor(ANN);
  const frames = [];
  for (let count = 0; count < 3; count += 1) {
    frames.push((await encryptor.encrypt(KEY, 'audio/opus', NOISE))!);
  }
  const take = (frame: Uint8Array) => decryptor.decrypt([KEY], 'audio/opus', frame);
  expect(await take(frames[2]!)).toEqual(NOISE);
  expect(await take(frames[0]!)).toEqual(NOISE);
  expect(await take(frames[0]!)).toBe('replayed');
  expect(await take(frames[2]!)).toBe('replayed');
  expect(await take(frames[1]!)).toEqual(NOISE);
});

test('after a change of the key, frames under the key before it are read, and under a third not', async () => {
  const [decryptor, encryptor] = [new FrameDecryptor(ANN), new FrameEncryptor(ANN)];
  const before = (await encryptor.encrypt(KEY, 'audio/opus', NOISE))!;
  const late = (await encryptor.encrypt(KEY, 'audio/opus', NOISE))!;
  const after = (await encryptor.encrypt(OTHER_KEY, 'audio/opus', NOISE))!;
  expect(await decryptor.decrypt([KEY], 'audio/opus', before)).toEqual(NOISE);
  expect(await decryptor.decrypt([OTHER_KEY, KEY], 'audio/opus', after)).toEqual(NOISE);
  expect(await decryptor.decrypt([OTHER_KEY, KEY], 'audio/opus', late)).toEqual(NOISE);
  expect(await decryptor.decrypt([OTHER_KEY, KEY], 'audio/opus', before)).toBe('replayed');
  expect(await decryptor.decrypt([OTHER_KEY], 'audio/opus', late)).toBeUndefined();
});

test('what is no frame of its codec is not sent', async () => {
  const encryptor = new FrameEncryptor(ANN);
  expect(await encryptor.encrypt(KEY, 'video/VP8', hex('30 34'))).toBeUndefined();
  expect(await encryptor.encrypt(KEY, 'video/H264', hex('00 00 01 67 42 c0'))).toBeUndefined();
});

test('the text of the worker is up to date: node scripts/make-encryption-worker.ts', () => {
  expect(workerModule()).toContain(WORKER_SOURCE);
});
