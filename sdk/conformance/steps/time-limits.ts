/** Calls that are cancelled, and time limits. */
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { Outcome } from '../driver.ts';
import { Refusal, startScriptedControl } from '../scripted-control.ts';
import { type At, type Step, waitFor } from '../step.ts';

/** Less than an attempt takes by default, and enough for a busy machine. */
const SOON_MS = 8_000;

/** With whether it took as long as it should: milliseconds would differ. */
async function timed(
  outcome: Promise<Outcome>,
  [atLeastMs, atMostMs]: readonly [number, number],
): Promise<Outcome & { isInTime: boolean }> {
  const begun = performance.now();
  const ended = await outcome;
  const ms = performance.now() - begun;
  return { ...ended, isInTime: ms >= atLeastMs && ms <= atMostMs };
}

const CANCELLED = { error: { kind: 'Cancelled' }, isInTime: true };
const LATE = { error: { kind: 'Timeout', code: 'DEADLINE_EXCEEDED' }, isInTime: true };

export const TIME_LIMITS: readonly Step[] = [
  {
    name: 'a call is cancelled, and the client works on',
    run: async (at) => {
      const [control, rest] = [await at.proxy(), await at.proxy(at.world.service.port)];
      const { client, direct } = await at.house({ control_url: control.url, url: rest.url });
      await client.call('rooms.create', { room: 'before' });
      control.holdsAnswers = true;
      rest.holdsAnswers = true;
      const calls = [client.start('rooms.create', { room: 'cancelled' }), client.start('billing.get')];
      await waitFor(
        () => direct.rooms.get({ room: 'cancelled' }).then(Boolean, () => false),
        (isThere) => isThere,
      );
      for (const call of calls) call.cancel();
      const outcomes = await Promise.all(calls.map((call) => timed(call.outcome(), [0, SOON_MS])));
      for (const proxy of [control, rest]) {
        proxy.holdsAnswers = false;
        // What was dropped is missing in these connections.
        proxy.cut();
      }
      return { outcomes, next: await client.call('rooms.get', { room: 'before' }) };
    },
    expect: { outcomes: [CANCELLED, CANCELLED], next: { ok: { name: 'before' } } },
  },
  {
    name: 'a call is cancelled while it waits for another attempt',
    run: async (at) => {
      const nowhere = 'http://127.0.0.1:1';
      // The last attempt may not come before the cancellation, even on a busy machine.
      const { client } = await at.house({ control_url: nowhere, url: nowhere, retries: 20 });
      const calls = [client.start('rooms.get', { room: 'x' }), client.start('billing.get')];
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const call of calls) call.cancel();
      return await Promise.all(calls.map((call) => timed(call.outcome(), [0, SOON_MS])));
    },
    expect: [CANCELLED, CANCELLED],
  },
  {
    name: 'pages and events are cancelled',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client } = await at.house({ control_url: proxy.url, rooms: ['1', '2', '3'] });
      const pages = client.pages('rooms.list', { page_size: 1 });
      await pages.next();
      const watch = client.watch('rooms.watch', {});
      await watch.until(({ type }) => type === 'bookmark');
      proxy.holdsAnswers = true;
      const next = pages.next();
      pages.cancel();
      return [await timed(next, [0, SOON_MS]), await timed(watch.end(), [0, SOON_MS])];
    },
    expect: [CANCELLED, CANCELLED],
  },
  {
    name: 'a call ends at its own time limit, and at that of the client',
    run: async (at) => {
      const url = `http://${await at.listen(createServer())}`;
      const { client } = await at.house({ control_url: url, url, timeout_ms: 3_000 });
      return await Promise.all([
        timed(client.call('rooms.get', { room: 'x' }, { timeout_ms: 300 }), [250, 2_900]),
        timed(client.call('billing.get', {}, { timeout_ms: 300 }), [250, 2_900]),
        timed(client.call('rooms.get', { room: 'x' }), [2_900, SOON_MS]),
        timed(client.call('keys.create', { name: 'x' }), [2_900, SOON_MS]),
      ]);
    },
    expect: Array(4).fill(LATE),
  },
  {
    name: 'an attempt has a time limit of its own',
    run: async (at) => {
      const url = `http://${await at.listen(createServer())}`;
      const options = { attempt_timeout_ms: 300, retries: 1 };
      const { client } = await at.house({ control_url: url, url, ...options });
      // Two attempts and a wait, or one attempt.
      return await Promise.all([
        timed(client.call('rooms.get', { room: 'x' }), [550, SOON_MS]),
        timed(client.call('billing.get'), [550, SOON_MS]),
        timed(client.call('keys.create', { name: 'x' }), [250, SOON_MS]),
      ]);
    },
    expect: Array(3).fill(LATE),
  },
  {
    name: 'attempts end when there is no time for another one',
    against: 'a script',
    run: async (at) => {
      // Waits of the SDK's own are random: an attempt might begin right before the time limit, and be late.
      const control = await startScriptedControl(() => {
        throw new Refusal('UNAVAILABLE', { reason: 'UNAVAILABLE', retryDelayMs: 60_000 });
      });
      at.onEnd(control.close);
      const rest = await startRefusing(at, 60);
      const { client } = await at.house({ control_url: control.url, url: rest.url });
      const ends = await Promise.all([
        timed(client.call('rooms.get', { room: 'x' }), [0, SOON_MS]),
        timed(client.call('rates.get'), [0, SOON_MS]),
      ]);
      return { ends, attempts: [control.received.length, rest.received()] };
    },
    expect: { ends: Array(2).fill({ error: { kind: 'Unavailable' }, isInTime: true }), attempts: [1, 1] },
  },
];

/** A REST interface that is unavailable, for so many seconds as it says. */
async function startRefusing(at: At, seconds: number): Promise<{ url: string; received: () => number }> {
  let received = 0;
  const server = createHttpServer((_request, response) => {
    received += 1;
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': String(seconds) });
    response.end(JSON.stringify({ error: 'unavailable' }));
  });
  return { url: `http://${await at.listen(server)}`, received: () => received };
}
