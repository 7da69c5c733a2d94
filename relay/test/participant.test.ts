import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Admission, UsageReporter } from '../../sdk/typescript/src/relay/index.ts';
import { Metrics } from '../src/metrics.ts';
import { Participant } from '../src/participant.ts';

const ANN = { room: 'hall', username: 'ann', role: 'audience' } as Admission;
const metrics = () => new Metrics(() => ({ sessions: 0, rooms: 0, participants: 0 }));

test('a full disk does not end the relay when a participant leaves', async () => {
  const unhandled: unknown[] = [];
  const listen = (cause: unknown) => unhandled.push(cause);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));
  const reporter = { startSession: () => ({ end: () => Promise.reject(new Error('spool_failed')) }) };
  const participant = new Participant(reporter as unknown as UsageReporter, ANN, 1, metrics());
  expect(participant.leave({})).toBe(true);
  await setImmediate();
  expect(unhandled).toEqual([]);
});
