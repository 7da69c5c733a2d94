/** A service of its own for the pictures: an embedded database in a temporary folder, the sandbox, and free ports. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import type { Sandbox } from '../../sandbox/server.ts';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import { readConfig } from '../../src/run/config.ts';
import { startEmbedded } from '../../src/run/embedded-postgres/embedded-postgres.ts';
import { findFreePort } from '../../src/run/free-port.ts';
import { findSecretsKey } from '../../src/run/secrets-key.ts';
import { type Service, startService } from '../../src/run/service.ts';
import { startSandboxPayments } from '../../src/run/start-sandbox.ts';
import { until } from './person.ts';

/** The names that the pages show; the browser finds both here. */
export const PUBLIC_URL = 'http://boxoffice.example';
export const OPS_URL = 'http://operators.boxoffice.example';

export interface OwnService {
  readonly service: Service;
  readonly sandbox: Sandbox;
  /** Opens the database as its owner, to move what was charged into the past. */
  readonly owner: Pool;
  readonly url: string;
  readonly opsUrl: string;
  readonly controlUrl: string;
  /** The link in a mail to an address, once it was written. Each link is returned once. Without a mail server, mails are in the log. */
  linkTo(email: string): Promise<string>;
  /** Every session began so long ago: dangerous changes need one of the last ten minutes. */
  dateSessions(minutesAgo: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnService(): Promise<OwnService> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-pictures-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    return { ...(await open(folder, closing)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function open(folder: string, closing: (() => Promise<unknown>)[]): Promise<Omit<OwnService, 'stop'>> {
  const [port, sandboxPort] = await Promise.all([findFreePort('127.0.0.1'), findFreePort('127.0.0.1')]);
  const config = readConfig({
    PORT: String(port),
    OPS_PORT: '0',
    GRPC_PORT: '0',
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: folder,
    PUBLIC_URL,
    OPS_URL,
    TRUST_PROXY: '127.0.0.1',
    MCP_TOOLS: 'true',
  });
  const { log, linkTo } = makeLog();
  const quiet = { info: () => {}, warn: () => {} };
  const embedded = await startEmbedded({ dataDir: folder, log: quiet, durable: false });
  closing.push(() => embedded.stop());
  const database = { databaseUrl: embedded.applicationUrl, migrationsDatabaseUrl: embedded.url };
  const secretsKey = await findSecretsKey(config);
  const mails = { databaseUrl: embedded.applicationUrl, secretsKey, publicUrl: PUBLIC_URL };
  const payments = await startSandboxPayments(config, port, mails);
  closing.push(() => payments.close());
  const service = await startService({ ...config, ...payments.settings, ...database, secretsKey }, log);
  closing.push(() => service.stop());
  const owner = openPool(embedded.url, { max: 1, applicationName: 'boxoffice pictures' });
  closing.push(() => owner.end());
  return {
    service,
    sandbox: payments.sandbox,
    owner,
    url: `http://127.0.0.1:${service.port}`,
    opsUrl: `http://127.0.0.1:${service.opsPort}`,
    controlUrl: `http://127.0.0.1:${service.grpcPort}`,
    linkTo,
    dateSessions: async (minutesAgo) => {
      for (const table of ['console_sessions', 'operator_sessions']) {
        const dated = `update ${table} set created_at = now() - make_interval(mins => $1)`;
        await owner.query(dated, [minutesAgo]);
      }
    },
  };
}

function makeLog() {
  const lines: { to?: string; text?: string }[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const used = new Set<string>();
  const findLink = async (email: string) => {
    const links = lines.flatMap(({ to, text = '' }) =>
      to === email ? (/\/console\/login\/[\w-]{43}/.exec(text) ?? []) : [],
    );
    return links.find((each) => !used.has(each));
  };
  const linkTo = async (email: string): Promise<string> => {
    const link = await until(`a link to ${email}`, () => findLink(email));
    used.add(link);
    return link;
  };
  return { log: pino({ level: 'info' }, stream), linkTo };
}
