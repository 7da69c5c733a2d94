/** Key verification without HTTP. */

import { authenticate } from '../src/access/keys/authenticate.ts';
import { openPool, type Pool } from '../src/base/db/pool.ts';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { type BetterAuth, openBetterAuth } from './peers.ts';
import { depsOn } from './settings.ts';
import { makeBenchTenant, openStand, type Stand } from './stand.ts';

const IN_FLIGHT = [1, 16];
const KEYS = 100;
const SECONDS_PER_ROUND = 1;
const POOL = { max: 20 };
const PEER = 'better-auth';

export const keysVerify: Benchmark = {
  name: 'keys-verify',
  minutes: 1,
  summary: 'verifying a key in one process, compared with better-auth with @better-auth/api-key',
  protocol: `For ${SECONDS_PER_ROUND} s a round, as many verifications are in flight as the title says, each of the next of
    ${KEYS} working keys, all in this process. Ours is authenticate(); the peer is auth.api.verifyApiKey() of
    better-auth, with keys hashed and kept in the same PostgreSQL and through the same pool of ${POOL.max} connections,
    with the tables and indexes of its own migrations. It writes to the row of a key whenever it verifies
    it, so it also runs with its rate limit on, the default, and with commits that do not wait for the
    disk. The result is verifications per second; each must find its key valid.`,
  async run(bench) {
    const stand = await openStand(bench);
    const pool = openPool(stand.databaseUrl, POOL);
    await bench.use(Promise.resolve(pool), () => pool.end());
    const verifiers = [
      await ours(stand, pool),
      await peer(bench, PEER, pool, { rateLimit: false }),
      await peer(bench, `${PEER}, rate limit on`, pool, { rateLimit: true }),
      await peer(bench, `${PEER}, no wait for the disk`, await openCarelessPool(bench, stand), {
        rateLimit: false,
      }),
    ];
    for (const inFlight of IN_FLIGHT) {
      await bench.compare({
        title: `${inFlight} in flight`,
        unit: 'verifications/s',
        contestants: verifiers.map((verifier) => contestant(verifier, inFlight)),
        goals: [{ of: 'boxoffice', to: PEER, atLeast: 5 }],
      });
    }
  },
};

interface Verifier {
  readonly name: string;
  readonly role: Contestant['role'];
  readonly keys: readonly string[];
  /** Throws unless the key is valid. */
  readonly verify: (key: string) => Promise<void>;
}

async function ours(stand: Stand, pool: Pool): Promise<Verifier> {
  const deps = depsOn(pool);
  const tenants = await makeAll(() => makeBenchTenant(stand, 'backend'));
  return {
    name: 'boxoffice',
    role: 'ours',
    keys: tenants.map(({ key }) => `Bearer ${key}`),
    verify: async (authorization) => {
      await authenticate(deps, authorization, 'backend', '192.0.2.1');
    },
  };
}

async function peer(
  bench: Bench,
  name: string,
  pool: Pool,
  options: { readonly rateLimit: boolean },
): Promise<Verifier> {
  const auth: BetterAuth = await openBetterAuth(bench, pool, options);
  return {
    name,
    role: 'peer',
    keys: await makeAll(() => auth.makeKey()),
    verify: async (key) => {
      if (!(await auth.verify(key))) throw new Error(`${name} finds its own key not valid`);
    },
  };
}

async function makeAll<T>(make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < KEYS) made.push(await make());
  return made;
}

/** A pool with the same settings, but with asynchronous commit. */
async function openCarelessPool(bench: Bench, stand: Stand): Promise<Pool> {
  const url = new URL(stand.databaseUrl);
  url.searchParams.set('options', '-c synchronous_commit=off');
  const pool = openPool(url.href, POOL);
  return bench.use(Promise.resolve(pool), () => pool.end());
}

function contestant({ name, role, keys, verify }: Verifier, inFlight: number): Contestant {
  return {
    name,
    role,
    round: async () => {
      const latencies: number[] = [];
      const start = performance.now();
      const deadline = start + SECONDS_PER_ROUND * 1000;
      let begun = 0;
      const runOne = async () => {
        for (let before = performance.now(); before < deadline; before = performance.now()) {
          await verify(keys[begun++ % keys.length]!);
          latencies.push(performance.now() - before);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, runOne));
      return { value: (latencies.length / (performance.now() - start)) * 1000, latencies };
    },
  };
}
