/** The service's REST door with one more route, which requires a key and does nothing else. */
import type { AddressInfo } from 'node:net';
import { openPool } from '../src/base/db/pool.ts';
import { Type } from '../src/base/lib/schema.ts';
import { plain } from '../src/doors/rest/route.ts';
import { buildRest, ROUTES } from '../src/doors/rest/server.ts';
import { announce } from './process.ts';
import { depsOn } from './settings.ts';

const db = openPool(process.env.DATABASE_URL!);
const deps = depsOn(db);
const who = plain(
  {
    path: 'GET /who',
    key: 'backend',
    closedTo: 'none',
    queue: 'calls',
    tag: 'Keys',
    operation: 'who',
    summary: 'The key of the request',
    description: 'Nothing else is done.',
    answer: { 200: Type.Object({ key: Type.String(), kind: Type.String() }) },
  },
  async ({ caller: { keyId, kind } }) => ({ key: keyId, kind }),
);
const app = await buildRest(deps, { trustProxy: [], routes: [...ROUTES, who] });

await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port, async () => {
  await app.close();
  await db.end();
});
