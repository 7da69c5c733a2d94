import { describe, expect, test } from 'vitest';
import { JoinError, Session, type SessionEvents } from '../../../sdk/typescript/src/device/index.ts';
import { ManualTimers, settle } from './support.ts';

const NOW_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

type Grant = { token: string; expiresAt: Date };

/** A session whose token lives for ten minutes, with its events. */
function begin(renew: (count: number) => Promise<Grant> | Grant, options: { lifetimeMs?: number } = {}) {
  const timers = new ManualTimers(NOW_MS);
  let renewals = 0;
  const session = new Session<Grant>({
    grant: { token: 'token 0', expiresAt: new Date(NOW_MS + (options.lifetimeMs ?? 10 * MINUTE_MS)) },
    renew: async () => {
      renewals += 1;
      return await renew(renewals);
    },
    timers,
  });
  const events: unknown[] = [];
  const names = [
    'token',
    'renewalFailed',
    'moderated',
    'hostEnded',
    'networkFailure',
    'tokenExpired',
  ] as const;
  for (const name of names) {
    session.on(name, (detail: SessionEvents<Grant>[typeof name]) => events.push([name, detail]));
  }
  const grantAt = (count: number): Grant => ({
    token: `token ${count}`,
    expiresAt: new Date(timers.now() + 10 * MINUTE_MS),
  });
  return { session, timers, events, grantAt, renewals: () => renewals };
}

describe('renewal', () => {
  test('comes half-way, repeatedly, and emits the new token', async () => {
    const scene: ReturnType<typeof begin> = begin((count) => scene.grantAt(count));
    await scene.timers.advance(5 * MINUTE_MS - 1);
    expect(scene.renewals()).toBe(0);
    await scene.timers.advance(1);
    expect(scene.session.grant.token).toBe('token 1');
    await scene.timers.advance(60 * MINUTE_MS);
    expect(scene.renewals()).toBe(13);
    expect(scene.events).toHaveLength(13);
    expect(scene.events[12]).toEqual(['token', expect.objectContaining({ token: 'token 13' })]);
    expect(scene.session.ended).toBe(false);
  });

  test('can be asked for before, and then comes half-way through the new token', async () => {
    const scene: ReturnType<typeof begin> = begin((count) => scene.grantAt(count));
    await scene.timers.advance(2 * MINUTE_MS);
    await Promise.all([scene.session.refresh(), scene.session.refresh()]);
    expect(scene.session.grant.token).toBe('token 1');
    await scene.timers.advance(5 * MINUTE_MS - 1);
    expect(scene.renewals()).toBe(1);
    await scene.timers.advance(1);
    expect(scene.renewals()).toBe(2);
    scene.session.leave();
    await scene.session.refresh();
    expect(scene.renewals()).toBe(2);
  });

  test('is retried until it succeeds', async () => {
    const scene: ReturnType<typeof begin> = begin((count) => {
      if (count < 4)
        throw new JoinError('UNAVAILABLE', 'temporarily unavailable', { status: 503, retryable: true });
      return scene.grantAt(count);
    });
    await scene.timers.advance(6 * MINUTE_MS);
    expect(scene.session.grant.token).toBe('token 4');
    expect(scene.events).toEqual([['token', scene.session.grant]]);
  });

  test("is retried after the application's own errors", async () => {
    const scene: ReturnType<typeof begin> = begin((count) => {
      if (count === 1) throw new TypeError('fetch failed');
      return scene.grantAt(count);
    });
    await scene.timers.advance(6 * MINUTE_MS);
    expect(scene.session.grant.token).toBe('token 2');
  });

  test('that is refused emits an event, and the session lasts as long as its token', async () => {
    const error = new JoinError('DENIED', 'permission denied', { status: 403 });
    const scene = begin(() => Promise.reject(error));
    await scene.timers.advance(10 * MINUTE_MS - 1);
    expect(scene.renewals()).toBe(1);
    expect(scene.events).toEqual([['renewalFailed', { error }]]);
    await scene.timers.advance(1);
    expect(scene.events[1]).toEqual(['tokenExpired', { error }]);
    expect(scene.session.ended).toBe(true);
  });

  test("goes by half of 15 minutes at most, if the device's clock is behind", async () => {
    const scene: ReturnType<typeof begin> = begin((count) => scene.grantAt(count), {
      lifetimeMs: 24 * 60 * MINUTE_MS,
    });
    expect(scene.timers.waits).toEqual([7.5 * MINUTE_MS, 15 * MINUTE_MS]);
  });
});

describe('the end', () => {
  test('tokenExpired: all renewals failed', async () => {
    const error = new JoinError('NETWORK', 'no answer', { retryable: true });
    const scene = begin(() => Promise.reject(error));
    await scene.timers.advance(60 * MINUTE_MS);
    expect(scene.events.at(-1)).toEqual(['tokenExpired', { error }]);
    expect(scene.events.filter((event) => (event as string[])[0] === 'tokenExpired')).toHaveLength(1);
    expect(scene.renewals()).toBeGreaterThan(8);
    expect(scene.timers.waits).toEqual([]);
  });

  test('tokenExpired: a renewal that comes too late changes nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<Grant>();
    const scene = begin(() => promise);
    await scene.timers.advance(11 * MINUTE_MS);
    expect(scene.events).toEqual([['tokenExpired', { error: undefined }]]);
    resolve(scene.grantAt(1));
    await settle();
    expect(scene.events).toHaveLength(1);
    expect(scene.session.grant.token).toBe('token 0');
    expect(scene.timers.waits).toEqual([]);
  });

  test('moderated: with the code of the relay', () => {
    const scene = begin(() => Promise.reject(new Error()));
    scene.session.moderated('KICKED');
    expect(scene.events).toEqual([['moderated', { code: 'KICKED' }]]);
    expect(scene.session.ended).toBe(true);
  });

  test('hostEnded', () => {
    const scene = begin(() => Promise.reject(new Error()));
    scene.session.hostEnded();
    expect(scene.events).toEqual([['hostEnded', {}]]);
  });

  test('networkFailure: the connection did not come back within 30 seconds', async () => {
    const scene = begin(() => Promise.reject(new Error()));
    scene.session.connectionLost();
    await scene.timers.advance(20_000);
    scene.session.connectionLost();
    await scene.timers.advance(9_999);
    expect(scene.events).toEqual([]);
    await scene.timers.advance(1);
    expect(scene.events).toEqual([['networkFailure', {}]]);
  });

  test('none: the connection came back in time', async () => {
    const scene: ReturnType<typeof begin> = begin((count) => scene.grantAt(count));
    scene.session.connectionLost();
    await scene.timers.advance(29_999);
    scene.session.connectionRestored();
    await scene.timers.advance(20_000);
    scene.session.connectionLost();
    await scene.timers.advance(29_999);
    expect(scene.events).toEqual([]);
    expect(scene.session.ended).toBe(false);
  });

  test('comes once, and leaves no timer behind', async () => {
    const scene = begin(() => Promise.reject(new Error()));
    scene.session.connectionLost();
    scene.session.hostEnded();
    scene.session.moderated('KICKED');
    scene.session.connectionLost();
    scene.session.hostEnded();
    await scene.timers.advance(60 * MINUTE_MS);
    expect(scene.events).toEqual([['hostEnded', {}]]);
    expect(scene.timers.waits).toEqual([]);
  });

  test('by leaving: no event, no renewal, and a renewal in progress is aborted', async () => {
    const signals: AbortSignal[] = [];
    const timers = new ManualTimers(NOW_MS);
    const session = new Session<Grant>({
      grant: { token: 'token 0', expiresAt: new Date(NOW_MS + 10 * MINUTE_MS) },
      renew: async ({ signal }) => {
        signals.push(signal);
        throw new TypeError('fetch failed');
      },
      timers,
    });
    const failures: unknown[] = [];
    session.on('renewalFailed', (failure) => failures.push(failure));
    await timers.advance(5 * MINUTE_MS);
    session.leave();
    await settle();
    expect(signals[0]?.aborted).toBe(true);
    expect(timers.waits).toEqual([]);
    expect(failures).toEqual([]);
  });
});

test('adding a listener returns a function that removes it', () => {
  const scene = begin(() => Promise.reject(new Error()));
  const heard: string[] = [];
  const off = scene.session.on('hostEnded', () => heard.push('one'));
  scene.session.on('hostEnded', () => heard.push('other'));
  off();
  scene.session.hostEnded();
  expect(heard).toEqual(['other']);
});
