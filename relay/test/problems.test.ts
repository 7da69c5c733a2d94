import { expect, test } from 'vitest';
import { RevocationsError, type UsageEvent } from '../../sdk/typescript/src/relay/index.ts';
import { Problems } from '../src/problems.ts';

const ACCEPTED = { type: 'batch_accepted', records: 0, charged: 0, duplicates: 0, unbilled: 0 } as const;
const FAILED: UsageEvent = {
  type: 'send_failed',
  reason: 'server_error',
  status: 503,
  cause: undefined,
  attempt: 1,
  retryMs: 1_000,
};

test('a problem is told once, until it is over', () => {
  const lines: string[] = [];
  const problems = new Problems((line) => void lines.push(line));
  problems.usage(ACCEPTED);
  for (const retryMs of [1_000, 2_000]) problems.usage({ type: 'key_refused', retryMs });
  problems.usage(FAILED);
  problems.usage(ACCEPTED);
  problems.usage(FAILED);
  expect(lines).toEqual([
    'the service refuses RELAY_KEY: it must be a relay key that works. Records stay on disk',
    'usage is not sent (503). Records stay on disk',
    'key: the service answers again',
    'usage: the service answers again',
    'usage is not sent (503). Records stay on disk',
  ]);
});

test('a tenant that the service does not know is named', () => {
  const lines: string[] = [];
  const problems = new Problems((line) => void lines.push(line));
  const unknown = new RevocationsError('BAD_ANSWER', 't_1', { status: 404 });
  for (let attempt = 0; attempt < 2; attempt += 1) problems.revocations(unknown);
  problems.revocationsCame();
  problems.revocations(new RevocationsError('NO_ANSWER', 't_1', {}));
  expect(lines).toEqual([
    'no revocations from the service (BAD_ANSWER, status 404): TENANT is not one of its tenants',
    'revocations: the service answers again',
    'no revocations from the service (NO_ANSWER)',
  ]);
});
