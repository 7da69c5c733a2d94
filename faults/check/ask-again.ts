/** Asks again where the answer says only that the service had no time: a busy machine is not what a campaign looks for. */
import { setTimeout as sleep } from 'node:timers/promises';

interface Answered {
  readonly status?: number;
  readonly headers: Headers;
}

/** Such an answer says nothing of what was asked for. */
const BUSY = new Set<number | undefined>([408, 503]);
const ASKED_MS_MAX = 60_000;
const PAUSE_MS = 1_000;

const CLOCK = { now: () => performance.now(), sleep: (ms: number) => sleep(ms) };

/** Waits as long as `Retry-After` says. About a minute after the first request, it returns what it has. */
export async function askAgain<A extends Answered>(
  ask: () => Promise<A>,
  { now, sleep }: { now(): number; sleep(ms: number): Promise<unknown> } = CLOCK,
): Promise<A> {
  const begun = now();
  for (;;) {
    const answer = await ask();
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
    const pauseMs = seconds > 0 ? seconds * 1_000 : PAUSE_MS;
    if (!BUSY.has(answer.status) || now() - begun + pauseMs > ASKED_MS_MAX) return answer;
    await sleep(pauseMs);
  }
}
