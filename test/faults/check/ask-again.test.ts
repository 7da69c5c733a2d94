import { expect, test } from 'vitest';
import { askAgain } from '../../../faults/check/ask-again.ts';

/** Asks a service that gives these answers, the last one again and again, on a clock of the test. */
async function ask(...answers: readonly (readonly [status: number | undefined, retryAfter?: string])[]) {
  let ms = 0;
  let asked = 0;
  const sleep = async (waited: number) => {
    ms += waited;
  };
  const { status } = await askAgain(
    async () => {
      const [status, after] = answers[asked] ?? answers.at(-1)!;
      asked += 1;
      return { ...(status && { status }), headers: new Headers(after ? { 'retry-after': after } : {}) };
    },
    { now: () => ms, sleep },
  );
  return { status, asked, ms };
}

test.each([408, 503])('%i is asked again, when the answer says', async (status) => {
  expect(await ask([status, '7'], [status], [200])).toEqual({ status: 200, asked: 3, ms: 8_000 });
});

test.each([200, 404, 500, undefined])('%s is an answer', async (status) => {
  expect(await ask([status])).toEqual({ status, asked: 1, ms: 0 });
});

test('what is busy for a minute is told as it is', async () => {
  expect(await ask([503, '20'])).toEqual({ status: 503, asked: 4, ms: 60_000 });
  expect(await ask([503, '3600'])).toEqual({ status: 503, asked: 1, ms: 0 });
});
