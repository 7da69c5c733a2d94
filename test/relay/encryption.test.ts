/** End-to-end encryption in browsers: the relay carries what only those who have the key can see. */
import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, test } from 'vitest';
import { FrameDecryptor } from '../../sdk/typescript/src/device/encryption/frame-decryptor.ts';
import { CODECS, type Codec } from '../../sdk/typescript/src/device/encryption/frame-layout.ts';
import { type Entered, picturesOf, SIZE, sees, sumOf, useRelay } from './support.ts';

const meeting = await useRelay();
const { enter, moderate } = meeting;

const createRoom = (room: string, policy: object = { e2eeRequired: true }) =>
  moderate(RoomService.method.createRoom, { room, policy });

const connect = (who: Entered, given: object) => who.ask('connect', { relay: meeting.relay.url, ...given });
const framesOf = async (who: Entered) => sumOf((await picturesOf(who)).map(({ frames }) => frames));
/** Bytes of pictures have arrived, which need not be visible. */
const isReached = async (who: Entered) => sumOf((await picturesOf(who)).map(({ bytes }) => bytes)) > 20_000;

test.each(['video/VP8', 'video/H264'])(
  'those with the same key see each other, with %s, and the tier is that of the picture',
  async (codec) => {
    const room = `secret-${codec.slice(6)}`;
    await createRoom(room);
    const [ann, bob] = [await enter('ann', room), await enter('bob', room)];
    await connect(ann, { size: SIZE, codec, key: 1 });
    await connect(bob, { size: SIZE, codec, key: 1 });
    for (const each of [ann, bob]) await sees(each);
    expect((await picturesOf(bob)).find(({ frames }) => frames > 0)).toMatchObject({ width: 640, codec });
    expect(await bob.heard('encryptionRequired')).toEqual([]);
    await Promise.all([ann.ask('close'), bob.ask('close')]);
    await expect.poll(async () => (await meeting.chargedIn(room)).get('bob')?.tier).toBe('h');
  },
);

describe('who has not the key', () => {
  test('sees nothing and hears whose media it is; with the key, it is seen', async () => {
    await createRoom('spied');
    const [ann, eve] = [await enter('ann', 'spied'), await enter('eve', 'spied')];
    const mallory = await enter('mallory', 'spied');
    await connect(ann, { size: SIZE, key: 1 });
    await connect(eve, {});
    await connect(mallory, { key: 2 });
    for (const each of [eve, mallory]) {
      await expect.poll(() => each.heard('encryptionRequired')).toMatchObject([{ username: 'ann' }]);
      await expect.poll(() => isReached(each)).toBe(true);
      expect(await framesOf(each)).toBe(0);
      await each.ask('setKey', 1);
      await sees(each);
    }
  });

  test('publishes nothing, until there is a key', async () => {
    await createRoom('keyless');
    const [ann, bob] = [await enter('ann', 'keyless'), await enter('bob', 'keyless')];
    const refusal = { relay: meeting.relay.url, size: SIZE };
    expect(await ann.ask('refusal', refusal)).toMatchObject({ code: 'encryptionRequired' });
    await connect(ann, {});
    expect(await ann.ask('publish', SIZE)).toBe('encryptionRequired');
    await ann.ask('setKey', 1);
    expect(await ann.ask('publish', SIZE)).toBeUndefined();
    await connect(bob, { key: 1 });
    await sees(bob);
    expect(await ann.heard('tokenExpired')).toEqual([]);
  });
});

test('what the relay sends is encrypted: its frames show nothing of those that were published but their headers', async () => {
  await createRoom('tapped');
  const [ann, eve] = [await enter('ann', 'tapped'), await enter('eve', 'tapped')];
  await connect(ann, { size: SIZE, key: 1 });
  await connect(eve, { tap: true });
  const tapped = () => eve.ask<{ codec: string; hex: string }[]>('tapped');
  const count = async (codec: string) => (await tapped()).filter((each) => each.codec === codec).length;
  for (const codec of ['video/VP8', 'audio/opus']) await expect.poll(() => count(codec)).toBeGreaterThan(10);

  const key = await crypto.subtle.importKey('raw', new Uint8Array(32).fill(1), 'HKDF', false, ['deriveKey']);
  const origin = { room: 'tapped', username: 'ann' };
  const decryptors = new Map(CODECS.map((codec) => [codec, new FrameDecryptor(origin)]));
  for (const { codec, hex } of await tapped()) {
    const frame = Uint8Array.from(Buffer.from(hex, 'hex'));
    const plain = await decryptors.get(codec as Codec)!.decrypt([key], codec as Codec, frame);
    expect(plain).toBeInstanceOf(Uint8Array);
    const hidden = Buffer.from(plain as Uint8Array).subarray(codec === 'audio/opus' ? 0 : 10);
    for (let at = 0; at + 8 <= hidden.length; at += 1) {
      expect(Buffer.from(frame).includes(hidden.subarray(at, at + 8))).toBe(false);
    }
  }
});

test('after a change of the key, all go on with the next', async () => {
  await createRoom('rotated');
  const [ann, bob] = [await enter('ann', 'rotated'), await enter('bob', 'rotated')];
  await connect(ann, { size: SIZE, key: 1 });
  await connect(bob, { key: 1 });
  await sees(bob);
  for (const each of [bob, ann]) await each.ask('setKey', 2);
  await sees(bob);
  expect(await bob.heard('encryptionRequired')).toEqual([]);
});

test('a client that says that it encrypts, and does not, is ended, and nothing of it is forwarded', async () => {
  await createRoom('lied-to');
  const [ann, bob] = [await enter('ann', 'lied-to'), await enter('bob', 'lied-to')];
  await connect(bob, { key: 1 });
  await connect(ann, { size: SIZE, key: 1, plain: true });
  await expect.poll(() => ann.heard('encryptionRequired')).toMatchObject([{ username: 'ann' }]);
  expect(await isReached(bob)).toBe(false);
  expect(await framesOf(bob)).toBe(0);
});

describe('a room that does not require encryption', () => {
  test('has it for those who have a key, who drop what is plain', async () => {
    await createRoom('mixed', {});
    const [ann, bob] = [await enter('ann', 'mixed'), await enter('bob', 'mixed')];
    await connect(ann, { size: SIZE });
    await connect(bob, { size: SIZE, key: 1 });
    await expect.poll(() => bob.heard('encryptionRequired')).toMatchObject([{ username: 'ann' }]);
    await expect.poll(() => isReached(ann)).toBe(true);
    expect(await framesOf(bob)).toBe(0);
    expect(await framesOf(ann)).toBe(0);
  });
});

test('a page that allows no worker from a blob: URL is told so, and may serve one itself', async () => {
  await createRoom('strict');
  const [ann, bob] = [await enter('ann', 'strict'), await enter('bob', 'strict')];
  const policy = `Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content: "worker-src 'self'" })`;
  for (const { page } of [ann, bob]) await page.evaluate(`document.head.append(${policy})`);
  const refusal = await ann.ask('refusal', { relay: meeting.relay.url, size: SIZE, key: 1 });
  expect(refusal).toMatchObject({ message: expect.stringContaining('content security policy') });
  const worker = '/sdk/device/encryption/worker.ts';
  await connect(ann, { size: SIZE, key: 1, worker });
  await connect(bob, { key: 1, worker });
  await sees(bob);
});

test('a room that mutes on entry has the microphone off until it is turned on', async () => {
  await createRoom('quiet', { muteOnEntry: true });
  const [ann, bob] = [await enter('ann', 'quiet'), await enter('bob', 'quiet')];
  await connect(ann, { size: SIZE });
  await connect(bob, {});
  await sees(bob);
  expect(await ann.ask('muted')).toEqual({ kinds: [], own: ['audio'] });
  const sound = async () =>
    sumOf(
      (await bob.stats())
        .filter(({ kind, direction }) => kind === 'audio' && direction === 'inbound-rtp')
        .map(({ bytes }) => bytes),
    );
  expect(await sound()).toBe(0);
  await ann.ask('unmute', 'audio');
  await expect.poll(sound).toBeGreaterThan(1_000);
  expect(await ann.ask('muted')).toEqual({ kinds: [], own: [] });
});
