/**
 * Checks who may post: pages of the sandbox and programs, but no page of another website.
 *
 * Browsers send the origin of a form; programs send neither header. The Host check rejects
 * names that an attacker points at this machine (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { header } from '../http/request.ts';

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** True if the request comes from a page of another site. */
export function isCrossSite(request: IncomingMessage, publicUrl: string): boolean {
  const site = header(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const origin = header(request, 'origin');
  if (origin === undefined) return false;
  return origin !== new URL(publicUrl).origin && URL.parse(origin)?.host !== request.headers.host;
}

/** True if the request names this machine or the public address. */
export function isOwnHost(request: IncomingMessage, publicUrl: string): boolean {
  const host = header(request, 'host') ?? '';
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return LOOPBACK_HOSTS.has(name) || host === new URL(publicUrl).host;
}
