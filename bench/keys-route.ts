/** A route that checks a key and does nothing else. */
import type { Benchmark, Contestant } from './benchmark.ts';
import { requestBytes, runLoad } from './load.ts';
import { makeBenchTenant, openProcess, openStand } from './stand.ts';

const CONNECTIONS = [32, 1];
const SECONDS_PER_ROUND = 2;

export const keysRoute: Benchmark = {
  name: 'keys-route',
  summary:
    'an authenticated route that does nothing else, compared with a bare Fastify route with one SELECT',
  protocol: `The same GET is sent for ${SECONDS_PER_ROUND} s a round, by each connection as soon as it has its answer. The
    floor is plain Fastify, in a process of its own, with one route that finds the key by its
    primary key with one prepared SELECT and answers its id and kind. Ours is the whole REST door of the
    service, with one more route that requires a backend key and answers the same; the key comes as a bearer
    token. Both have a pool of 20 connections on the same PostgreSQL. The result is 200 answers per second.`,
  async run(bench) {
    const stand = await openStand(bench);
    const { key, keyId } = await makeBenchTenant(stand, 'backend');
    const bare = await openProcess(bench, stand, './bare-route.ts');
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    for (const connections of CONNECTIONS) {
      await bench.compare({
        title: connections === 1 ? '1 connection' : `${connections} connections`,
        unit: 'requests/s',
        contestants: [
          route('bare route', 'floor', `${bare.url}/who?id=${keyId}`, connections),
          route('boxoffice', 'ours', `${keyed.url}/who`, connections, key),
        ],
        goals: [{ of: 'boxoffice', to: 'bare route', atLeast: 0.8 }],
      });
    }
  },
};

function route(
  name: string,
  role: Contestant['role'],
  url: string,
  connections: number,
  token?: string,
): Contestant {
  const request = requestBytes('GET', url, { token });
  return {
    name,
    role,
    round: async () => {
      const { rate, latencies } = await runLoad({
        urls: [url],
        connections,
        request: () => request,
        until: { seconds: SECONDS_PER_ROUND },
        statuses: [200],
      });
      return { value: rate, latencies };
    },
  };
}
