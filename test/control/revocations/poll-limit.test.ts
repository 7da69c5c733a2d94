import { expect, test } from 'vitest';
import { PollLimit } from '../../../src/control/revocations/poll-limit.ts';

const refusal = expect.objectContaining({ kind: 'too_many_streams', retryAfter: 5 });

test('200 polls of one network at a time; an IPv6 network is a /64', () => {
  const limit = new PollLimit();
  const leave = Array.from({ length: 200 }, (_, index) => limit.enter(`2001:db8::${index}`))[0]!;
  expect(() => limit.enter('2001:db8::1')).toThrow(refusal);
  limit.enter('2001:db8:0:1::1');
  leave();
  limit.enter('2001:db8::1');
  expect(() => limit.enter('2001:db8::1')).toThrow(refusal);
});

test('10,000 polls at a time in all', () => {
  const limit = new PollLimit();
  const enter = (index: number) => limit.enter(`192.0.${Math.floor(index / 100)}.1`);
  const leaves = Array.from({ length: 10_000 }, (_, index) => enter(index));
  expect(() => limit.enter('198.51.100.1')).toThrow(refusal);
  for (const leave of leaves) leave();
  for (let index = 0; index < 10_000; index += 1) enter(index);
  expect(() => limit.enter('198.51.100.1')).toThrow(refusal);
});
