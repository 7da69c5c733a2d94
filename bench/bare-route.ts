/** The floor of an authenticated route: plain Fastify and one indexed SELECT. */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { openPool } from '../src/base/db/pool.ts';
import { announce } from './process.ts';

const db = openPool(process.env.DATABASE_URL!);
const app = Fastify();

app.get<{ Querystring: { id: string } }>('/who', async (request) => {
  const { rows } = await db.query<{ tenant: bigint; kind: string }>({
    name: 'find-key',
    text: 'select tenant_id as tenant, kind from api_keys where id = $1',
    values: [request.query.id],
  });
  return { key: request.query.id, kind: rows[0]!.kind };
});

await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port, async () => {
  await app.close();
  await db.end();
});
