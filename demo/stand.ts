/** All that the demo starts: a service with its sandbox, the site, and later a relay, which needs a tenant that has paid. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { spawnService } from '../scripts/own-service.ts';
import type { Opened } from '../src/run/lifetime.ts';
import { BackEnd } from './back-end.ts';
import { requireRelayPackages } from './relay-process.ts';
import { openServer, type Site, type Tls } from './server.ts';
import type { State } from './state.ts';

export interface StandOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string } | undefined;
}

export interface Stand {
  readonly url: string;
  /** What the page of the host is told. */
  state(): Promise<State>;
}

/** What it starts is added to `opened`, so that it can be stopped at any time. */
export async function openStand(opened: Opened, { host, port, tls }: StandOptions): Promise<Stand> {
  requireRelayPackages();
  const certificate = tls && {
    cert: await readFile(tls.certificateFile),
    key: await readFile(tls.keyFile),
  };
  const service = await spawnService({ JOIN_CREATES_ROOMS: 'false', TRUST_PROXY: '127.0.0.1' });
  opened.add(() => service.stop());
  const backEnd = new BackEnd(opened, service);
  const url = await listen(opened, backEnd, { host, port, certificate });
  backEnd.url = url;
  await service.ready();
  return { url, state: () => backEnd.state({ secret: backEnd.secret(), link: undefined }) };
}

async function listen(
  opened: Opened,
  site: Site,
  { host, port, certificate }: { host: string; port: number; certificate: Tls | undefined },
): Promise<string> {
  const server = openServer(site, certificate);
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
  opened.add(async () => {
    server.close();
    server.closeAllConnections?.();
  });
  const { port: actual } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${certificate ? 'https' : 'http'}://${name}:${actual}`;
}
