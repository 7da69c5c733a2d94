/** Answers that are lost, late, or come twice: each call takes effect once, and gets its own answer. */
import { type At, type Step, waitFor } from '../step.ts';

const RECORD = {
  id: 'r1',
  role: 'host',
  tier: 'hd',
  seconds: 60,
  egress_bytes: 50_000_000,
  ingress_bytes: 0,
};

/** Attempts that soon run out of time; enough of them for a busy machine. */
const HASTY = { attempt_timeout_ms: 700, retries: 20 };

async function roomNames(direct: Awaited<ReturnType<At['house']>>['direct']): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of direct.rooms.list()) names.push(name);
  return names.toSorted();
}

export const LOST_ANSWERS: readonly Step[] = [
  {
    name: 'a lost answer of the control plane: one effect, and the same answer',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client, direct } = await at.house({ control_url: proxy.url });
      await client.call('rooms.create', { room: 'before' });
      proxy.holdsAnswers = true;
      const creating = client.start('rooms.create', { room: 'once', metadata: 'mine' });
      await waitFor(
        () => roomNames(direct),
        (names) => names.includes('once'),
      );
      proxy.holdsAnswers = false;
      proxy.cut();
      const outcome = await creating.outcome();
      const { uid } = await direct.rooms.get({ room: 'once' });
      return { outcome, isSame: outcome.ok?.uid === uid, names: await roomNames(direct) };
    },
    expect: { outcome: { ok: { name: 'once', metadata: 'mine' } }, isSame: true, names: ['before', 'once'] },
  },
  {
    name: 'an answer that does not come in time is asked for again',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client, direct } = await at.house({ control_url: proxy.url, ...HASTY });
      await client.call('rooms.create', { room: 'before' });
      proxy.holdsAnswers = true;
      const ending = client.start('rooms.end', { room: 'before' });
      await waitFor(
        async () => (await direct.rooms.get({ room: 'before' })).state,
        (state) => state === 'ended',
      );
      // The first attempt runs out of time before answers pass again, over another connection.
      setTimeout(() => {
        proxy.holdsAnswers = false;
        proxy.cut();
      }, 900);
      return await ending.outcome();
    },
    expect: { ok: { name: 'before', state: 'ended', end_reason: 'ended' } },
  },
  {
    name: 'a lost answer of a usage report: charged once',
    run: async (at) => {
      const { relayKey, direct } = await at.house();
      const proxy = await at.proxy(at.world.service.port);
      const client = await at.client({ url: proxy.url, api_key: relayKey });
      const before = (await direct.billing.get()).balance.micros;
      proxy.holdsAnswers = true;
      const reporting = client.start('usage.report', { records: [RECORD] });
      const balance = async () => (await direct.billing.get()).balance.micros;
      await waitFor(balance, (micros) => micros < before);
      proxy.holdsAnswers = false;
      proxy.cut();
      const outcome = await reporting.outcome();
      const { recent } = await direct.billing.get();
      return { outcome, charges: recent.filter(({ kind }) => kind === 'usage').length };
    },
    expect: { outcome: { ok: { charged: undefined, duplicates: 1, admitted: true } }, charges: 1 },
  },
  {
    name: 'changes that are cancelled, and made again: one effect each',
    run: async (at) => {
      const { key, relayKey, direct } = await at.house();
      const proxy = await at.proxy(at.world.service.port);
      const client = await at.client({ url: proxy.url, api_key: key });
      const relay = await at.client({ url: proxy.url, api_key: relayKey });
      const count = async () => [
        (await direct.billing.get()).recent.filter(({ kind }) => kind === 'usage').length,
        (await direct.keys.list()).filter(({ name }) => name === 'mine').length,
      ];
      const start = () => [
        relay.start('usage.report', { records: [RECORD] }),
        client.start('keys.create', { name: 'mine' }, { idempotency_key: 'order-8' }),
      ];
      proxy.holdsAnswers = true;
      const calls = start();
      await waitFor(count, (counts) => counts.every((each) => each === 1));
      for (const call of calls) call.cancel();
      const cancelled = await Promise.all(calls.map((call) => call.outcome()));
      proxy.holdsAnswers = false;
      proxy.cut();
      const again = await Promise.all(start().map((call) => call.outcome()));
      return { cancelled, again, counts: await count() };
    },
    expect: {
      cancelled: Array(2).fill({ error: { kind: 'Cancelled' } }),
      again: [{ ok: { charged: undefined, duplicates: 1 } }, { ok: { key: { name: 'mine' } } }],
      counts: [1, 1],
    },
  },
  {
    name: 'a lost answer of a new key: one key, and the same plaintext',
    run: async (at) => {
      const proxy = await at.proxy(at.world.service.port);
      const { client, direct } = await at.house({ url: proxy.url });
      const count = async () => (await direct.keys.list()).filter(({ name }) => name === 'lost').length;
      proxy.holdsAnswers = true;
      const creating = client.start('keys.create', { name: 'lost' });
      await waitFor(count, (found) => found === 1);
      proxy.holdsAnswers = false;
      proxy.cut();
      const outcome = await creating.outcome();
      const works = await at.client({ api_key: String(outcome.ok?.api_key) });
      return { outcome, count: await count(), read: await works.call('billing.get') };
    },
    expect: {
      outcome: { ok: { key: { name: 'lost' } } },
      count: 1,
      read: { ok: { tenant: { name: 'Ada Video' } } },
    },
  },
  {
    name: 'the same idempotency key of REST twice: one key, and the same plaintext',
    run: async (at) => {
      const { client, direct } = await at.house();
      const options = { idempotency_key: 'order-7' };
      const first = await client.call('keys.create', { name: 'mine' }, options);
      const second = await client.call('keys.create', { name: 'mine' }, options);
      const isSame = first.ok?.api_key !== undefined && first.ok.api_key === second.ok?.api_key;
      const count = (await direct.keys.list()).filter(({ name }) => name === 'mine').length;
      const other = await client.call('keys.create', { name: 'other' }, options);
      return { isSame, count, other };
    },
    expect: { isSame: true, count: 1, other: { error: { kind: 'Invalid', code: 422 } } },
  },
  {
    name: 'a lost answer of REST that may be asked for again',
    run: async (at) => {
      const proxy = await at.proxy(at.world.service.port);
      const { client } = await at.house({ url: proxy.url, ...HASTY });
      proxy.holdsAnswers = true;
      const setting = client.start('billing.set_auto_top_up', { enabled: false });
      await waitFor(
        () => proxy.requests,
        (requests) => requests > 0,
      );
      setTimeout(() => {
        proxy.holdsAnswers = false;
        proxy.cut();
      }, 900);
      return await setting.outcome();
    },
    expect: { ok: { name: 'Ada Video', auto_top_up: { below: { display: '$0.000000' } } } },
  },
  {
    name: 'the same idempotency key twice: one effect, and the same answer',
    run: async (at) => {
      const { client, direct } = await at.house();
      const options = { idempotency_key: 'order 7' };
      const first = await client.call('rooms.create', { room: 'lobby' }, options);
      const second = await client.call('rooms.create', { room: 'lobby' }, options);
      const isSame = first.ok?.uid !== undefined && first.ok.uid === second.ok?.uid;
      return { second, isSame, names: await roomNames(direct) };
    },
    expect: { second: { ok: { name: 'lobby' } }, isSame: true, names: ['lobby'] },
  },
  {
    name: 'answers that come late',
    run: async (at) => {
      const [control, rest] = [await at.proxy(), await at.proxy(at.world.service.port)];
      const { client } = await at.house({ control_url: control.url, url: rest.url });
      control.delayMs = 300;
      rest.delayMs = 300;
      return await Promise.all([
        client.call('rooms.create', { room: 'late' }),
        client.call('keys.create', { name: 'late' }),
      ]);
    },
    expect: [{ ok: { name: 'late' } }, { ok: { key: { name: 'late' } } }],
  },
  {
    name: 'answers of REST that come twice: each call has its own',
    run: async (at) => {
      const proxy = await at.proxy(at.world.service.port);
      const { client, direct } = await at.house({ url: proxy.url });
      proxy.repeatsAnswers = true;
      const first = await client.call('billing.get');
      const second = await client.call('rates.get');
      proxy.repeatsAnswers = false;
      // What was sent twice may also break the connection, once more.
      const third = await client.call('billing.set_auto_top_up', { enabled: false });
      const keys = await direct.keys.list();
      return { first, second, third, keys: keys.length };
    },
    expect: {
      first: { ok: { tenant: { name: 'Ada Video' } } },
      second: { ok: { currency: 'usd' } },
      third: { ok: { name: 'Ada Video' } },
      keys: 2,
    },
  },
];
