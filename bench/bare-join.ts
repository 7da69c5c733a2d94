/** The floor of an endpoint that mints tokens: plain Fastify, one indexed SELECT, one signature. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { openPool } from '../src/base/db/pool.ts';
import { announce } from './process.ts';

const db = openPool(process.env.DATABASE_URL!);
const app = Fastify();
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

app.post<{ Body: { credential: string; claims: string } }>('/join', async (request) => {
  const { credential, claims } = request.body;
  const { rows } = await db.query<{ tenant: bigint }>({
    name: 'find-credential',
    text: 'select tenant_id as tenant from device_credentials where id = $1',
    values: [credential],
  });
  if (!rows[0]) throw new Error('there is no such credential');
  const signature = sign('sha256', Buffer.from(claims), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return { token: `${claims}.${signature.toString('base64url')}` };
});

await app.listen({ host: '127.0.0.1', port: 0 });
announce((app.server.address() as AddressInfo).port, async () => {
  await app.close();
  await db.end();
});
