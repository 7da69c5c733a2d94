/** What is left when everything is over. */

import { Client } from '../client.ts';
import type { Json } from '../driver.ts';
import { type Step, waitFor } from '../step.ts';

/** Less than connections are kept that no one closes, and enough for a busy machine. */
const SOON_MS = 30_000;

export const LEAKS: readonly Step[] = [
  {
    name: 'no socket of the control plane is left when a client is closed',
    run: async (at) => {
      const { key, id } = await at.world.newTenant();
      // Over REST, the SDK for TypeScript calls with the `fetch` of its platform, which keeps connections for all.
      const control = await at.proxy();
      const client = new Client(at.driver, `closed of ${id}`);
      await at.driver.ask({
        ...{ op: 'open', client: `closed of ${id}` },
        options: { url: at.world.url, control_url: control.url, api_key: key },
      });
      const calls = [await client.call('rooms.create', { room: 'lobby' }), await client.call('rates.get')];
      await client.close();
      const closedAt = performance.now();
      const left = await waitFor(
        () => control.sockets,
        (sockets) => sockets === 0 || performance.now() - closedAt > SOON_MS,
      );
      return { calls, left };
    },
    expect: { calls: [{ ok: { name: 'lobby' } }, { ok: { currency: 'usd' } }], left: undefined },
  },
  {
    name: 'no task is left when all clients are closed',
    isAlone: true,
    run: async (at) => {
      // Connections that are kept for later calls are no leak.
      at.run.rest.cut();
      at.run.control.cut();
      const ask = async (): Promise<Json> => (await at.driver.ask({ op: 'tasks' })).ok;
      const atStart = at.run.tasksAtStart?.count;
      const left = await waitFor(ask, (now) => typeof now?.count !== 'number' || now.count <= atStart);
      return { isKnown: typeof left?.count === 'number', isBack: left?.count <= atStart };
    },
    expect: { isKnown: true, isBack: true },
  },
];
