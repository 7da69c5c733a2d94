/** What a campaign happens on: one PostgreSQL, two services, a payment provider and receivers of webhooks, with proxies in between. */
import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '../../src/base/db/pool.ts';
import { openScratch, type Scratch } from '../../test/support/scratch.ts';
import { Journal } from '../journal.ts';
import { DATA, JOURNAL } from '../kept-files.ts';
import { Database } from './database.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import type { LeftBehind } from './left-behind.ts';
import { findOwner } from './owner.ts';
import { PaymentProvider } from './provider.ts';
import { Receivers } from './receivers.ts';
import { ServiceProcess } from './service-process.ts';

/** Leads nowhere: clients know the addresses of both services. */
export const PUBLIC_URL = 'http://faults.test';

/** A service, and the ways from it to others. */
export interface Place {
  readonly service: ServiceProcess;
  readonly toDatabase: FaultyProxy;
  readonly toProvider: FaultyProxy;
}

export interface StageOptions {
  /** `false`: PostgreSQL does not sync what it writes. */
  readonly durable?: boolean;
  /** Its machine has to lose power, which not every machine can show. */
  readonly losesPower?: boolean;
  /** Modules that services load first. */
  readonly preloads?: readonly string[];
}

export class Stage {
  readonly journal: Journal;
  readonly database: Database;
  /** As the owner, past the proxies. */
  readonly db: Pool;
  readonly provider: PaymentProvider;
  readonly receivers: Receivers;
  readonly places: readonly Place[];
  /** In base64. */
  readonly secretsKey: string;
  /** Has the journal and the logs. */
  readonly folder: string;
  readonly #scratch: Scratch;

  private constructor(
    scratch: Scratch,
    journal: Journal,
    database: Database,
    provider: PaymentProvider,
    receivers: Receivers,
    places: readonly Place[],
    secretsKey: string,
  ) {
    this.secretsKey = secretsKey;
    this.folder = scratch.folder;
    this.#scratch = scratch;
    this.journal = journal;
    this.database = database;
    this.provider = provider;
    this.receivers = receivers;
    this.places = places;
    this.db = database.openPool();
  }

  /** Throws `Missing` if this machine cannot show what the options ask for. */
  static async open(
    left: LeftBehind,
    { durable = true, losesPower = false, preloads = [] }: StageOptions = {},
  ): Promise<Stage> {
    const note = (folder: string) => left.add(folder);
    const database = await Database.open({ durable, losesPower, note });
    const scratch = openScratch('boxoffice-faults-', { isOnDisk: true });
    note(scratch.folder);
    const journal = new Journal(join(scratch.folder, JOURNAL));
    const places: Place[] = [];
    const receivers = await Receivers.open(journal, (port) =>
      findOwner(
        port,
        places.map(({ service }) => service.processes()),
      ),
    );
    const provider = new PaymentProvider();
    const secretsKey = randomBytes(32).toString('base64');
    for (const [index, workers] of [1, 2].entries()) {
      const toDatabase = await FaultyProxy.open(database.port);
      // The provider opens later, because it has to know where the services are.
      const toProvider = await FaultyProxy.open(() => provider.port);
      const service = await ServiceProcess.reserve({
        name: `service-${index}`,
        folder: scratch.folder,
        workers,
        preloads,
        env: {
          ...settingsOf(database, toDatabase),
          ...{ SECRETS_KEY: secretsKey, STRIPE_API_BASE: `http://127.0.0.1:${toProvider.port}` },
          ...{ STRIPE_SECRET_KEY: provider.secretKey, STRIPE_WEBHOOK_SECRET: provider.webhookSecret },
        },
      });
      places.push({ service, toDatabase, toProvider });
    }
    await provider.open(places.map(({ service }) => service.url));
    const stage = new Stage(scratch, journal, database, provider, receivers, places, secretsKey);
    // The first one brings the database up to date.
    for (const { service } of places) await service.start();
    return stage;
  }

  service(index: number): ServiceProcess {
    return this.places[index]!.service;
  }

  /** Everything works again, and both services serve. */
  async heal(): Promise<void> {
    this.database.disk.free();
    await this.database.clock.shift(0);
    for (const { service, toDatabase, toProvider } of this.places) {
      toDatabase.mend();
      toProvider.mend();
      service.shiftClock(0);
      service.signal('SIGCONT');
    }
    this.provider.control.clearFaults();
    this.receivers.acceptAll();
    await this.database.start();
    await Promise.all(this.places.map(({ service }) => service.start()));
  }

  /** What happened that no fault explains. */
  get surprises(): readonly string[] {
    return this.places.flatMap(({ service }) => service.surprises);
  }

  /** `keep`: a folder that takes the journal, the logs and the database. */
  async close(keep?: string): Promise<void> {
    await Promise.all(this.places.map(({ service }) => service.close()));
    for (const { toDatabase, toProvider } of this.places) {
      toDatabase.close();
      toProvider.close();
    }
    this.receivers.close();
    await this.provider.close();
    await this.db.end();
    if (keep !== undefined) {
      cpSync(this.folder, keep, { recursive: true });
      await this.database.keep(join(keep, DATA));
    }
    await this.database.close();
    await this.#scratch.remove();
  }
}

function settingsOf(database: Database, toDatabase: FaultyProxy): Record<string, string> {
  return {
    DATABASE_URL: database.url('boxoffice_app', toDatabase.port),
    MIGRATIONS_DATABASE_URL: database.url('boxoffice', toDatabase.port),
    PUBLIC_URL,
    PAYMENTS: 'stripe',
    LOG_LEVEL: 'warn',
    ARCHIVE_AFTER: '0',
    CHECKOUTS_PER_SECOND: '1000',
    // Clients of a campaign come from many addresses.
    TRUST_PROXY: '127.0.0.1',
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  };
}
