import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Codec, Kind } from '../src/offer.ts';
import { type Publication, Receiver, Room, Source, type Subscription } from '../src/room.ts';
import { readRtp } from '../src/rtp.ts';
import { packet } from './packet.ts';

beforeAll(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterAll(() => void vi.useRealTimers());

const VP8: Codec = { name: 'VP8', payloadType: 96 };
const KEY_FRAME = [0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x01];
const DELTA = [0x10, 0x11, 1, 2];

/** A publisher of video, and what it was asked for. */
function publisher({ ssrc = 99, codec = VP8, isOpen = (): boolean => true } = {}) {
  const asked = vi.fn(isOpen);
  const source = new Source('video', codec, asked, undefined);
  let sequence = 0;
  const send = (rest: readonly number[]) => {
    const bytes = packet({ sequence: sequence++, ssrc, rest, payloadType: codec.payloadType });
    source.take(bytes, readRtp(bytes)!);
  };
  const publication: Publication = {
    username: 'ann',
    sources: new Map<Kind, Source>([['video', source]]),
    replaced: () => undefined,
  };
  return { source, asked, send, publication };
}

/** A watcher of Ann, and how many bytes of payload each of its packets had. */
function watcher({ isOpen = (): boolean => true, mayGet = (): boolean => true } = {}) {
  const got: number[] = [];
  const send = (bytes: Buffer) => isOpen() && got.push(bytes.length - 12) > 0;
  const shown = vi.fn();
  const meter = { sent: () => undefined, show: (_: object, pixels: number) => shown(pixels) };
  const receiver = new Receiver(VP8, 5, { send, meter, mayGet });
  const recoded = vi.fn();
  const subscription: Subscription = { of: 'ann', receivers: new Map([['video', receiver]]), recoded };
  return { got, shown, recoded, subscription };
}

test('a watcher begins with a key frame, which is asked for again until it comes', () => {
  const [room, ann, bob, eve] = [new Room(), publisher(), watcher(), watcher()];
  room.publish(ann.publication);
  room.subscribe(bob.subscription);
  ann.send(KEY_FRAME);
  room.subscribe(eve.subscription);
  ann.send(DELTA);
  expect(ann.asked).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(600);
  ann.send(DELTA);
  expect(ann.asked).toHaveBeenCalledTimes(2);
  ann.send(KEY_FRAME);
  vi.advanceTimersByTime(600);
  ann.send(DELTA);
  expect(ann.asked).toHaveBeenCalledTimes(2);
  expect(eve.got).toStrictEqual([11, 4]);
  expect(bob.got).toHaveLength(5);
});

test('a watcher of a publication that is replaced waits for a key frame of the next one', () => {
  const [room, first, second, bob] = [new Room(), publisher(), publisher({ ssrc: 7 }), watcher()];
  room.publish(first.publication);
  room.subscribe(bob.subscription);
  first.send(KEY_FRAME);
  second.send(KEY_FRAME);
  room.publish(second.publication);
  room.unpublish(first.publication);
  second.send(DELTA);
  expect(bob.got).toStrictEqual([11]);
  second.send(KEY_FRAME);
  second.send(DELTA);
  expect(bob.got).toStrictEqual([11, 11, 4]);
});

test('a watcher goes on with a key frame after a pause', () => {
  const [room, ann, bob] = [new Room(), publisher(), watcher()];
  room.publish(ann.publication);
  room.subscribe(bob.subscription);
  ann.send(KEY_FRAME);
  ann.source.pause();
  ann.send(DELTA);
  ann.send(KEY_FRAME);
  expect(bob.got).toStrictEqual([11, 11]);
  expect(bob.shown.mock.calls).toStrictEqual([[640 * 360], [0], [640 * 360]]);
});

test('a request that a publisher cannot get yet is made again with the next packet', () => {
  let isOpen = false;
  const [room, ann] = [new Room(), publisher({ isOpen: () => isOpen })];
  room.publish(ann.publication);
  ann.send(DELTA);
  isOpen = true;
  ann.send(DELTA);
  ann.send(DELTA);
  expect(ann.asked.mock.results.map(({ value }) => value)).toStrictEqual([false, true]);
});

test('a watcher who cannot get the beginning of a key frame yet waits for the next one', () => {
  let isOpen = false;
  const [room, ann, bob] = [new Room(), publisher(), watcher({ isOpen: () => isOpen })];
  room.publish(ann.publication);
  room.subscribe(bob.subscription);
  ann.send(KEY_FRAME);
  isOpen = true;
  ann.send(DELTA);
  ann.send(KEY_FRAME);
  expect(bob.got).toStrictEqual([11]);
});

test('a watcher whose token allows nothing any more gets nothing, and is no reason to ask for key frames', () => {
  let may = true;
  const [room, ann, bob] = [new Room(), publisher(), watcher({ mayGet: () => may })];
  room.publish(ann.publication);
  room.subscribe(bob.subscription);
  ann.send(KEY_FRAME);
  may = false;
  for (const part of [DELTA, KEY_FRAME, DELTA]) ann.send(part);
  expect(ann.asked).not.toHaveBeenCalled();
  expect(bob.got).toStrictEqual([11]);
  expect(bob.shown).toHaveBeenLastCalledWith(0);
  may = true;
  ann.send(DELTA);
  expect(ann.asked).toHaveBeenCalledTimes(1);
  ann.send(KEY_FRAME);
  expect(bob.got).toStrictEqual([11, 11]);
});

test('a watcher of another codec than that of the next publication is told, and gets nothing of it', () => {
  const h264 = publisher({ codec: { name: 'H264', payloadType: 102 } });
  const [room, ann, bob] = [new Room(), publisher(), watcher()];
  room.publish(ann.publication);
  room.subscribe(bob.subscription);
  room.publish(h264.publication);
  h264.send([...Buffer.from('6742c01ed900a02ff9610000030001000003003c8f162e48', 'hex')]);
  expect(bob.recoded).toHaveBeenCalledTimes(1);
  expect(bob.got).toStrictEqual([]);
});
