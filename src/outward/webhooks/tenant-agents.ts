/** Agents of Node's client whose connections belong to one tenant each: to a host, each tenant has its own. */
import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { IDLE_HOSTS_MAX } from './send-limits.ts';

/** Each request names its tenant in its options. */
export interface OfTenant {
  readonly tenant: string;
}

type NamedOptions = ClientRequestArgs & Partial<OfTenant>;

export class TenantHttpAgent extends HttpAgent {
  override getName(options: NamedOptions = {}): string {
    return `${options.tenant}:${super.getName(options)}`;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return keepsIdle(this) && isKept(super.keepSocketAlive(socket));
  }
}

export class TenantHttpsAgent extends HttpsAgent {
  override getName(options: NamedOptions = {}): string {
    return `${options.tenant}:${super.getName(options)}`;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return keepsIdle(this) && isKept(super.keepSocketAlive(socket));
  }
}

/** The types of Node say that it returns nothing. */
function isKept(kept: unknown): boolean {
  return kept === true;
}

function keepsIdle({ freeSockets }: HttpAgent): boolean {
  return Object.keys(freeSockets).length < IDLE_HOSTS_MAX;
}
