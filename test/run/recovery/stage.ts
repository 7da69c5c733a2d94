/** A deployment to make backups of: a server with archived WAL and a standby, a service, relays that report, and customers who pay. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { startSandbox } from '../../../sandbox/server.ts';
import { findFreePort } from '../../../src/run/free-port.ts';
import { startService } from '../../../src/run/service.ts';
import { findLastingPort } from '../../deploy/lasting-port.ts';
import { DATABASE, PostgresServer } from '../../deploy/postgres-server.ts';
import { Processes, waitFor } from '../../deploy/processes.ts';
import { bareConfig } from '../../support/bare-config.ts';
import { openScratch } from '../../support/scratch.ts';
import { ask, usageRecord } from '../../support/service.ts';
import { type Outcome, spawnAdmin } from '../admin/support.ts';

const HOST = '127.0.0.1';
const BATCH = 20;
const PAUSE_MS = 200;
const [SECRET_KEY, WEBHOOK_SECRET] = ['sk_test_of_the_drills', 'whsec_of_the_drills'];

export interface Stage {
  readonly server: PostgresServer;
  readonly standby: PostgresServer;
  /** An empty folder of this name. */
  folder(name: string): string;
  readonly backups: string;
  /** Where drills restore. */
  readonly scratch: string;
  /** Where the server archives its WAL. */
  readonly wal: string;
  /** When how many records were acknowledged. */
  readonly acknowledged: readonly { readonly at: number; readonly records: number }[];
  /** Records that were sent so far, acknowledged or not. */
  sent(): number;
  /** A customer pays, and has the credit. */
  pay(): Promise<void>;
  /** The address of the payment provider. */
  readonly provider: string;
  /** Relays report no more. */
  rest(): Promise<void>;
  /** Run a command of operators. `env` goes before what the deployment has. */
  admin(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome>;
  logs(): string;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const scratch = openScratch('boxoffice-drills-');
  const processes = new Processes(scratch);
  const closing: (() => Promise<unknown>)[] = [() => processes.stop()];
  const folder = (name: string) => {
    const path = join(scratch.folder, name);
    mkdirSync(path);
    return path;
  };
  const [backups, drills] = [folder('backups'), folder('drills')];
  await processes.ownFolder();
  const wal = join(scratch.folder, 'main-archive');
  const server = new PostgresServer(
    'main',
    await findLastingPort(HOST),
    join(scratch.folder, 'main'),
    processes,
  );
  await server.create(`archive_mode = on
archive_command = 'cp %p ${wal}/%f'
max_prepared_transactions = 1
listen_addresses = '${HOST}'
unix_socket_directories = ''`);
  await server.start();
  await server.query(`create database ${DATABASE}`, 'postgres');
  // Another program beside the service leaves one.
  await server.query(`begin; create table prepared (); prepare transaction 'prepared'`, 'postgres');
  const standby = await startStandby(server, join(scratch.folder, 'standby'), processes);

  const port = await findFreePort(HOST);
  const sandbox = await startSandbox({
    port: 0,
    secretKey: SECRET_KEY,
    webhooks: [{ url: `http://${HOST}:${port}/v1/stripe/webhook`, secret: WEBHOOK_SECRET }],
  });
  closing.push(() => sandbox.close());
  const payments = {
    stripeSecretKey: SECRET_KEY,
    stripeWebhookSecrets: [WEBHOOK_SECRET],
    stripeApiBase: sandbox.url,
  };
  const config = { ...bareConfig(server.url()), ...payments, port, archiveAfterSeconds: 0 };
  const service = await startService(config, pino({ level: 'silent' }));
  closing.push(() => service.stop());

  const call = async (method: string, path: string, key?: string, body?: unknown) => {
    const { status, text, json } = await ask(`http://${HOST}:${port}${path}`, method, { key, body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  };
  const payCheckout = async ({ checkout_url: url }: { checkout_url: string }) => {
    sandbox.control.pay(/cs_test_\w+/.exec(url)![0], { card: '4242424242424242' });
    await sandbox.control.idle();
  };
  const customers: { readonly key: string; readonly relay: string }[] = [];
  for (const name of ['Ada', 'Bob']) {
    const signedUp = await call('POST', '/v1/signup', undefined, { name, email: `${name}@example.com` });
    const relay = await call('POST', '/v1/keys', signedUp.api_key, { name: 'relay', kind: 'relay' });
    await payCheckout(signedUp);
    customers.push({ key: signedUp.api_key, relay: relay.api_key });
  }

  const acknowledged: { at: number; records: number }[] = [];
  const resting = new AbortController();
  let sent = 0;
  const report = async (relay: string) => {
    while (!resting.signal.aborted) {
      const records = Array.from({ length: BATCH }, () => usageRecord());
      sent += BATCH;
      await tryAgain(() => call('POST', '/v1/usage', relay, { records }));
      acknowledged.push({ at: Date.now(), records: BATCH });
      await sleep(PAUSE_MS);
    }
  };
  const relays = customers.map(({ relay }) => report(relay));
  const rest = async () => {
    resting.abort();
    await Promise.all(relays);
  };
  closing.push(rest);
  let paid = 0;
  return {
    ...{ server, standby, folder, backups, scratch: drills, wal, acknowledged, rest },
    provider: sandbox.url,
    sent: () => sent,
    pay: async () => {
      paid += 1;
      const { key } = customers[paid % customers.length]!;
      await payCheckout(await call('POST', '/v1/billing/checkout', key, { amount_cents: 1000 }));
    },
    admin: (env, ...args) =>
      spawnAdmin(
        {
          DATABASE_URL: server.url(),
          SECRETS_KEY: config.secretsKey.toString('base64'),
          STRIPE_SECRET_KEY: SECRET_KEY,
          STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
          STRIPE_API_BASE: sandbox.url,
          ...env,
        },
        ...args,
      ),
    logs: () => processes.logs(),
    close: async () => {
      for (const close of closing.reverse()) await close();
    },
  };
}

/** As relays do while the service is busy. */
async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!/: 503 /.test((error as Error).message)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function startStandby(primary: PostgresServer, folder: string, processes: Processes) {
  const standby = new PostgresServer('standby', await findLastingPort(HOST), folder, processes);
  const from = ['-h', HOST, '-p', `${primary.port}`, '-U', 'postgres'];
  await processes.run(['pg_basebackup', ...from, '-D', folder, '-R', '-c', 'fast']);
  standby.configure('');
  await standby.start();
  return standby;
}

/** Resolves when the standby has what the primary has now. */
export async function hasCaughtUp({ server, standby }: Pick<Stage, 'server' | 'standby'>): Promise<void> {
  const [{ lsn }] = (await server.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')) as [
    { lsn: string },
  ];
  await waitFor('the standby', () =>
    standby
      .query('select where pg_last_wal_replay_lsn() >= $1', DATABASE, [lsn])
      .then(({ length }) => length > 0),
  );
}
