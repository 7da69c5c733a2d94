import { expect, test, vi } from 'vitest';
import type { Codec } from '../src/offer.ts';
import { Outgoing } from '../src/outgoing.ts';
import { readRtp } from '../src/rtp.ts';
import { packet } from './packet.ts';

const VP8: Codec = { name: 'VP8', payloadType: 96 };

/** The start of a frame of VP8 with this picture number. */
const picture = (number: number) => [0x90, 0x80, 0x80 | (number >> 8), number & 0xff, 0x10];

function send(outgoing: Outgoing, given: Parameters<typeof packet>[0]) {
  const original = packet({ rest: picture(1), ...given });
  const before = Buffer.from(original);
  const sent = outgoing.rewrite(original, readRtp(original)!, 14);
  expect(original).toStrictEqual(before);
  return sent && { ...readRtp(sent)!, picture: sent.readUInt16BE(14) & 0x7fff };
}

test('packets have the type and the name that were agreed on, and the marker as it was', () => {
  const outgoing = new Outgoing({ name: 'opus', payloadType: 111 }, 5);
  expect(send(outgoing, { payloadType: 0x80 | 96 })).toMatchObject({
    isLast: true,
    payloadType: 111,
    ssrc: 5,
  });
  expect(send(outgoing, { sequence: 8 })).toMatchObject({ isLast: false });
});

test('packets keep their distances, wrap around, and go on with the next source', () => {
  const outgoing = new Outgoing(VP8, 5);
  const sequences = (numbers: number[], ssrc: number) =>
    numbers.map((sequence) => send(outgoing, { sequence, ssrc })?.sequence);
  expect(sequences([65_535, 0, 1, 0], 99)).toStrictEqual([1, 2, 3, 2]);
  expect(sequences([500, 502], 7)).toStrictEqual([4, 6]);
});

test('a packet from before the first one of its source is dropped: its number is taken', () => {
  const outgoing = new Outgoing(VP8, 5);
  send(outgoing, { sequence: 10, ssrc: 1 });
  send(outgoing, { sequence: 500, ssrc: 2 });
  send(outgoing, { sequence: 503, ssrc: 2 });
  expect(send(outgoing, { sequence: 499, ssrc: 2 })).toBeUndefined();
  expect(send(outgoing, { sequence: 500, ssrc: 2 })).toMatchObject({ sequence: 2 });
});

test.each([
  ['VP8', 90_000],
  ['opus', 48_000],
] as const)('the time of %s goes on with the next source by as much as has passed', (name, clock) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const outgoing = new Outgoing({ name, payloadType: 96 }, 5);
  const first = send(outgoing, { time: 4_000_000_000, ssrc: 1 })!;
  vi.advanceTimersByTime(1_500);
  const second = send(outgoing, { time: 90, ssrc: 2 })!;
  const third = send(outgoing, { time: 3_090, sequence: 8, ssrc: 2 })!;
  vi.useRealTimers();
  expect(second.time - first.time).toBe(1.5 * clock);
  expect(third.time - second.time).toBe(3_000);
});

test('pictures of VP8 are numbered on, behind those of the source before', () => {
  const outgoing = new Outgoing(VP8, 5);
  const numbers = (given: readonly [number: number, sequence: number][], ssrc: number) =>
    given.map(([number, sequence]) => send(outgoing, { rest: picture(number), sequence, ssrc })!.picture);
  const [first, ...others] = numbers(
    [
      [0x7fff, 1],
      [0, 2],
      [0, 3],
      [1, 4],
    ],
    1,
  );
  expect(others).toStrictEqual([first! + 1, first! + 1, first! + 2]);
  expect(
    numbers(
      [
        [0x4000, 9],
        [0x4001, 10],
      ],
      2,
    ),
  ).toStrictEqual([first! + 3, first! + 4]);
});

test('a source that was not forwarded for long goes on where it stopped', () => {
  const outgoing = new Outgoing(VP8, 5);
  send(outgoing, { sequence: 1, rest: picture(1) });
  outgoing.pause();
  expect(outgoing.follows(99)).toBe(false);
  expect(send(outgoing, { sequence: 40_000, rest: picture(9_000) })).toMatchObject({
    sequence: 2,
    picture: 2,
  });
  expect(outgoing.follows(99)).toBe(true);
});
