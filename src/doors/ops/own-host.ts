/**
 * The operator's port asks for no key, so a web page must not read it. A page whose host name is pointed at our address
 * (DNS rebinding) sends that name as the `Host`: whatever name is not ours is refused.
 */
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { parseAddress } from '../../base/lib/address.ts';

/** Misdirected Request. Source: RFC 9110. */
const STATUS = 421;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1)$/;

/** `hosts`: names and addresses without ports, in lower case. */
export function refuseOtherHosts(app: FastifyInstance, hosts: ReadonlySet<string>): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isOwnHost(request.headers.host, request.socket.localAddress, hosts)) return;
    return reply.code(STATUS).send({ error: 'this Host is not configured: see OPS_HOSTS' });
  });
}

/** `localAddress`: where the connection arrived. Without a `Host`, it is no browser: HTTP/1.0 checks of proxies send none. */
export function isOwnHost(
  host: string | undefined,
  localAddress: string | undefined,
  hosts: ReadonlySet<string>,
): boolean {
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  if (hosts.has(name)) return true;
  const arrivedAt = parseAddress(localAddress ?? '');
  if (arrivedAt === undefined) return false;
  if (name === 'localhost') return LOOPBACK.test(arrivedAt);
  // A page cannot make a browser send an address that it did not open.
  return isIP(name) !== 0 && parseAddress(name) === arrivedAt;
}
