/** Agents of Node's client whose connections belong to one tenant each: to a host, each tenant has its own. */
import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { IDLE_MAX, IDLE_PER_TENANT_MAX } from './send-limits.ts';

/** Each request names its tenant in its options. */
export interface OfTenant {
  readonly tenant: string;
}

type NamedOptions = ClientRequestArgs & Partial<OfTenant>;

export class TenantHttpAgent extends HttpAgent {
  override getName(options: NamedOptions = {}): string {
    return nameOf(options, super.getName(options));
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return mayKeep(this, socket) && isKept(super.keepSocketAlive(socket));
  }
}

export class TenantHttpsAgent extends HttpsAgent {
  override getName(options: NamedOptions = {}): string {
    return nameOf(options, super.getName(options));
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return mayKeep(this, socket) && isKept(super.keepSocketAlive(socket));
  }
}

function nameOf({ tenant }: NamedOptions, name: string): string {
  return `${tenant}:${name}`;
}

/** The types of Node say that it returns nothing. */
function isKept(kept: unknown): boolean {
  return kept === true;
}

/** Whether all, and the tenant of the connection, have few idle connections. */
function mayKeep({ sockets, freeSockets }: HttpAgent, socket: Duplex): boolean {
  const name = Object.keys(sockets).find((each) => sockets[each]!.includes(socket as Socket));
  const tenant = name?.slice(0, name.indexOf(':') + 1);
  let [all, own] = [0, 0];
  for (const [each, idle = []] of Object.entries(freeSockets)) {
    all += idle.length;
    if (tenant !== undefined && each.startsWith(tenant)) own += idle.length;
  }
  return all < IDLE_MAX && own < IDLE_PER_TENANT_MAX;
}
