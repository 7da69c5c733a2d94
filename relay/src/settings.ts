/** Settings of the relay, from the environment. */
import { isIP } from 'node:net';
import type { Shares } from './places.ts';

export interface Settings {
  /** Base URL of the relay, as devices reach it. Proofs name it. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Addresses and CIDRs of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[];
  /** Base URL of the service. */
  readonly service: string;
  /** `iss` of tokens: the service's `PUBLIC_URL`, if that is not the address above. */
  readonly issuer: string;
  readonly tenant: string;
  /** A relay key, or the file that has it. */
  readonly key: string | { readonly file: string };
  readonly spool: string;
  readonly relayId: string;
  /** How often running stays become records, in seconds. */
  readonly reportSeconds: number;
  readonly bindAddress: string | undefined;
  readonly udpPorts: readonly [from: number, to: number] | undefined;
  readonly limits: Limits;
}

export interface Limits extends Shares {
  /** Connections of clients, over HTTP. */
  readonly connections: number;
  /** Those of one address; IPv6: of a /64. */
  readonly addressConnections: number;
  /** The candidates of one session. */
  readonly candidates: number;
  /** Bits a second that one publisher may send. */
  readonly bitrate: number;
}

const DEFAULTS: Limits = {
  connections: 2_000,
  addressConnections: 500,
  sessions: 500,
  deviceSessions: 50,
  addressSessions: 100,
  credentialSessions: 400,
  candidates: 50,
  bitrate: 8_000_000,
};

type Env = Readonly<Record<string, string | undefined>>;

/** Fails with an `Error` that names the setting. */
export function readSettings(env: Env): Settings {
  const port = numberOf(env, 'PORT', 8090);
  const url = (env.RELAY_URL ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new Error('RELAY_URL must be a URL');
  const ports = env.UDP_PORTS === undefined ? undefined : /^(\d+)-(\d+)$/.exec(env.UDP_PORTS);
  if (ports === null) throw new Error('UDP_PORTS must be two numbers, such as 40000-40999');
  return {
    url,
    port,
    trustProxy: networksOf(env, 'TRUST_PROXY'),
    host: env.HOST ?? '127.0.0.1',
    service: required(env, 'BOXOFFICE_URL').replace(/\/+$/, ''),
    issuer: (env.ISSUER ?? required(env, 'BOXOFFICE_URL')).replace(/\/+$/, ''),
    tenant: required(env, 'TENANT'),
    key: env.RELAY_KEY_FILE ? { file: env.RELAY_KEY_FILE } : required(env, 'RELAY_KEY'),
    spool: env.SPOOL ?? 'data/relay',
    relayId: env.RELAY_ID ?? 'relay',
    reportSeconds: numberOf(env, 'REPORT_SECONDS', 30),
    bindAddress: env.UDP_ADDRESS,
    udpPorts: ports && [Number(ports[1]), Number(ports[2])],
    limits: {
      connections: numberOf(env, 'CONNECTIONS_MAX', DEFAULTS.connections),
      addressConnections: numberOf(env, 'ADDRESS_CONNECTIONS_MAX', DEFAULTS.addressConnections),
      sessions: numberOf(env, 'SESSIONS_MAX', DEFAULTS.sessions),
      deviceSessions: numberOf(env, 'DEVICE_SESSIONS_MAX', DEFAULTS.deviceSessions),
      addressSessions: numberOf(env, 'ADDRESS_SESSIONS_MAX', DEFAULTS.addressSessions),
      credentialSessions: numberOf(env, 'CREDENTIAL_SESSIONS_MAX', DEFAULTS.credentialSessions),
      candidates: numberOf(env, 'CANDIDATES_MAX', DEFAULTS.candidates),
      bitrate: numberOf(env, 'BITRATE_MAX', DEFAULTS.bitrate),
    },
  };
}

function required(env: Env, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function networksOf(env: Env, name: string): string[] {
  const list = (env[name] ?? '').split(',').map((each) => each.trim());
  const networks = list.filter((each) => each !== '');
  if (networks.every((each) => isNetwork(...(each.split('/') as [string, string?])))) return networks;
  throw new Error(`${name} must be addresses or CIDRs, such as 10.0.0.0/8`);
}

function isNetwork(address: string, bits?: string): boolean {
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return bits === undefined ? most > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

function numberOf(env: Env, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`);
  return value;
}
