/** The service's REST door with one more route, which requires a key and does nothing else. */
import type { AddressInfo } from 'node:net';
import { openPool } from '../src/base/db/pool.ts';
import { callerOf, requireKey } from '../src/doors/rest/auth.ts';
import { buildRest } from '../src/doors/rest/server.ts';
import { announce } from './process.ts';
import { depsOn } from './settings.ts';

const db = openPool(process.env.DATABASE_URL!);
const deps = depsOn(db);
const app = await buildRest(deps, { trustProxy: [] });

app.get('/who', { onRequest: requireKey(deps, 'backend') }, async (request) => {
  const { keyId, kind } = callerOf(request);
  return { key: keyId, kind };
});

await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port, async () => {
  await app.close();
  await db.end();
});
