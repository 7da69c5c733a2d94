/**
 * The whole service: opens its listeners and starts its background work on a given database and
 * settings. `main.ts` runs it with the environment, tests with their own databases.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { FailedKeys } from '../access/keys/failed-keys.ts';
import { KeyLookups } from '../access/keys/key-lookups.ts';
import { KeyRate } from '../access/keys/key-rate.ts';
import { LastUses } from '../access/keys/last-uses.ts';
import { LoginLimit } from '../access/logins/login-limit.ts';
import { InvitationLimit } from '../access/members/invitation-limit.ts';
import { Issuer } from '../access/oidc/issuer.ts';
import { SignupLimit } from '../access/signup/signup-limit.ts';
import { rotateOnSchedule } from '../access/tokens/rotate-signing-keys.ts';
import { DatabaseSigner } from '../access/tokens/signer.ts';
import { isDistributed } from '../base/db/distribution.ts';
import { parseRange } from '../base/lib/address.ts';
import { type Certificate, readCertificate } from '../base/lib/pem-files.ts';
import { SecretBox } from '../base/lib/secret-box.ts';
import { orStartError, StartError } from '../base/lib/start-error.ts';
import { ConnectionLimit } from '../base/limits/connection-limit.ts';
import { OwnProcess } from '../base/processes/own-process.ts';
import { CallQueue, callQueueLimits, gatheredCallLimits } from '../base/tenants/call-queue.ts';
import { HeavyReads, heavyReadLimits } from '../base/tenants/heavy-reads.ts';
import { renderTenantId } from '../base/tenants/tenant.ts';
import { ServerLanes, type ServerOf, TenantServers } from '../base/tenants/tenant-servers.ts';
import { GatheredAdmissions } from '../control/admission/gathered-admissions.ts';
import { RevocationFeed } from '../control/revocations/revocation-feed.ts';
import { Sightings } from '../control/rooms/sightings.ts';
import { SnapshotLimit } from '../control/streams/snapshot-limit.ts';
import { StreamLimit } from '../control/streams/stream-limit.ts';
import { consoleDoor } from '../doors/console/door.ts';
import type { Deps } from '../doors/deps.ts';
import { type GrpcServer, openGrpc } from '../doors/grpc/server.ts';
import { JOIN_DESCRIPTION } from '../doors/join/join.ts';
import { buildJoin, joinDoor } from '../doors/join/server.ts';
import { makeMetrics } from '../doors/metrics.ts';
import type { OperatorDeps } from '../doors/ops/console/operator-deps.ts';
import { buildOps, type OpsAddress, type Watched, watchProcess } from '../doors/ops/server.ts';
import { buildRest } from '../doors/rest/server.ts';
import { EventWaker } from '../events/event-waker.ts';
import { CheckoutLimit } from '../money/checkouts/checkout-limit.ts';
import { openProvider, type Provider } from '../money/payments/provider.ts';
import {
  describeSuperseded,
  loadRates,
  RATES_FILE,
  RateCards,
  readRatesFile,
} from '../money/pricing/rate-cards.ts';
import { KnownFilters } from '../money/records/known-ids/known-filters.ts';
import { RepeatMemory } from '../money/records/repeat-memory.ts';
import {
  ChargeQueue,
  DISTRIBUTED_LIMITS,
  type QueueLimits,
  separateLimits,
} from '../money/usage/charge-queue.ts';
import { chargeFreeBatches, chargeTenant } from '../money/usage/charge-usage.ts';
import { UnpaidRecords } from '../money/usage/unpaid-records.ts';
import { ConsoleMailRows } from '../outward/mail/console-mail-rows.ts';
import type { MailsShown } from '../outward/mail/mail.ts';
import { SmtpMailer } from '../outward/mail/mailer.ts';
import type { DeliveryRules } from '../outward/webhooks/delivery-turn.ts';
import { ResendLimit } from '../outward/webhooks/resend-limit.ts';
import type { SendTimes } from '../outward/webhooks/send-limits.ts';
import { WebhookSender } from '../outward/webhooks/send-request.ts';
import { type Background, registerListeners, startBackground } from './background.ts';
import { type Config, WEBHOOK_CLIENT_TLS } from './config.ts';
import { allOf, closePools, type DatabaseConfig, openDatabase, type Pools } from './open-database.ts';

export type ServiceConfig = Pick<
  Config,
  | 'host'
  | 'port'
  | 'grpcPort'
  | 'tls'
  | 'publicUrl'
  | 'issuerDetails'
  | 'opsUrl'
  | 'opsHosts'
  | 'archiveAfterSeconds'
  | 'archiveFilterMb'
  | 'strictTransportSeconds'
  | 'supportEmail'
  | 'stripeSecretKey'
  | 'stripeWebhookSecrets'
  | 'stripeApiBase'
  | 'keyPrefix'
  | 'ratesFile'
  | 'trustProxy'
  | 'clientConnectionsMax'
  | 'clientConnectionsPerAddressMax'
  | 'signupCheckoutCents'
  | 'checkoutOptions'
  | 'signupsPerHour'
  | 'checkoutsPerSecond'
  | 'billingRounding'
  | 'joinAddress'
  | 'joinOrigins'
  | 'joinCreatesRooms'
  | 'confusableUsernames'
  | 'mail'
  | 'oidc'
  | 'webhookNetworks'
  | 'webhookEgress'
  | 'webhookClientTls'
  | 'eventDays'
  | 'mailDays'
  | 'auditAddressDays'
  | 'mcp'
  | 'production'
> & {
  /** `undefined`: the process that started this one opens the operator's port. */
  readonly opsPort: number | undefined;
  /** Where the sandbox shows mails. */
  readonly mailboxUrl?: string | undefined;
} & DatabaseConfig;

export interface Service {
  readonly port: number;
  readonly grpcPort: number;
  readonly opsPort: number | undefined;
  /** Equal to `port`, unless joins have an address of their own. */
  readonly joinPort: number;
  readonly deps: Deps;
  /** Answer accepted requests, finish work in progress, and close. */
  stop(): Promise<void>;
}

/** A listener could not be opened; `variable` is the setting that chooses its port. */
export class ListenError extends StartError {
  override readonly name = 'ListenError';
}

/** New connections that wait to be accepted. Node accepts one in each turn of its loop, so a burst of them needs room; the kernel may allow fewer. */
const BACKLOG = 4_096;

const NO_FILTER =
  'a filter of archived ids has no place, and each charge of the tenant looks up its ids: raise ARCHIVE_FILTER_MB';
/** Calls that wait for the payment provider hold a connection only for a moment before and after. */
const PROVIDER_CALLS_MAX = 80;
/** Calls that wait for a webhook do likewise. */
const WEBHOOK_CALLS_MAX = 40;

export interface WebhookOptions {
  readonly rules?: DeliveryRules;
  readonly times?: SendTimes;
}

export interface StartOptions {
  /** For a worker, and for benchmarks that compare other limits. */
  readonly chargeLimits?: Partial<QueueLimits> | undefined;
  /** For tests: how deliveries to webhooks are repeated, and how long their requests may take. */
  readonly webhooks?: WebhookOptions | undefined;
  /** Called when everything is loaded, before the first request can arrive. */
  readonly whenLoaded?: () => void;
  /** Gives up waiting for the database. */
  readonly ending?: AbortSignal;
  /** For a drill on a restored database: it serves, and has no background work, which would send webhooks and mails. */
  readonly isTied?: boolean;
}

export async function startService(
  config: ServiceConfig,
  log: Logger,
  options: StartOptions = {},
): Promise<Service> {
  const pools = await openDatabase(config, log, options.ending);
  const { db } = pools;
  for (const pool of allOf(pools)) {
    pool.on('error', (error) => {
      // A pool counts as closed before the server has read the goodbyes of its connections, and the server may stop first.
      if (!pool.ending) log.warn({ err: error }, 'an idle database connection was lost');
    });
  }
  try {
    const { ratesFile } = config;
    const card = ratesFile
      ? await orStartError(() => readRatesFile(ratesFile), 'RATES_FILE cannot be used')
      : undefined;
    const loading = await loadRates(db, RATES_FILE, card);
    if (loading.superseded !== undefined) log.warn({ path: ratesFile }, describeSuperseded(loading));
    return await open(config, pools, log, options);
  } catch (error) {
    await closePools(pools);
    throw error;
  }
}

async function open(
  config: ServiceConfig,
  pools: Pools,
  log: Logger,
  { chargeLimits, webhooks, whenLoaded, isTied = false }: StartOptions,
): Promise<Service> {
  const provider = config.stripeSecretKey
    ? await openProvider({
        secretKey: config.stripeSecretKey,
        webhookSecrets: config.stripeWebhookSecrets,
        apiBase: config.stripeApiBase,
      })
    : undefined;

  let background: Background | undefined;
  const deps = makeDeps({
    config,
    pools,
    log,
    provider,
    wakeTopUps: () => background?.wakeTopUps(),
    chargeLimits,
    sendTimes: webhooks?.times,
    clientCertificate:
      config.webhookClientTls && (await readCertificate(config.webhookClientTls, WEBHOOK_CLIENT_TLS)),
  });
  await rotateOnSchedule(deps.db, deps.box);
  await registerListeners(deps.db);
  deps.metrics.watchPools(allOf(pools));
  deps.metrics.watchChargeQueue(deps.charges);
  const state = { stopping: false };
  const watched = watchProcess(deps, state);
  const { trustProxy, joinAddress, opsPort } = config;
  const rest = await buildRest(deps, { trustProxy, alsoDescribed: [JOIN_DESCRIPTION] });
  const join = joinAddress && (await buildJoin({ deps, trustProxy, origins: config.joinOrigins }));
  if (!join) await rest.register(joinDoor, { deps, origins: config.joinOrigins });
  await rest.register(consoleDoor, { deps });
  let ops: FastifyInstance | undefined;
  let grpc: GrpcServer;
  try {
    await Promise.all([rest.ready(), join?.ready()]);
    whenLoaded?.();
    await listen(
      () => rest.listen({ host: config.host, port: config.port, backlog: BACKLOG }),
      'PORT',
      config.port,
    );
    const operatorDeps = async () => ({ ...deps, config: { ...deps.config, opsUrl: config.opsUrl } });
    if (opsPort !== undefined) ops = await openOps(watched, { ...config, opsPort }, operatorDeps);
    if (join)
      await listen(() => join.listen({ ...joinAddress, backlog: BACKLOG }), 'JOIN_PORT', joinAddress.port);
    const { host, grpcPort, tls } = config;
    grpc = await listen(
      () => openGrpc(deps, { host, port: grpcPort, tls, trustProxy, findFault: watched.findFault }),
      'GRPC_PORT',
      grpcPort,
    );
  } catch (error) {
    await Promise.all([rest.close(), join?.close(), ops?.close()]);
    throw error;
  }
  // Asks the database beside the background work, which may wait for all servers.
  const process = new OwnProcess(pools.db, deps.box.keyName);
  await process.beat();
  if (!isTied) {
    const own = { ...deps, db: pools.backgroundDb };
    background = startBackground(own, { process, watchDb: pools.watchDb }, config.ratesFile, webhooks?.rules);
  }

  return {
    port: portOf(rest),
    grpcPort: grpc.port,
    opsPort: ops && portOf(ops),
    joinPort: portOf(join ?? rest),
    deps,
    stop: async () => {
      state.stopping = true;
      await Promise.all([
        deps.revocations.close(),
        rest.close(),
        join?.close(),
        grpc.close(),
        background?.stop(),
      ]);
      await ops?.close();
      await deps.webhookSender.close();
      await deps.events.close();
      await closePools(pools);
    },
  };
}

/** Open the operator's port. */
export async function openOps(
  watched: Watched,
  config: OpsAddress & { readonly host: string; readonly opsPort: number },
  openConsole: () => Promise<OperatorDeps>,
): Promise<FastifyInstance> {
  const { host, opsPort: port } = config;
  const ops = buildOps(watched, config, openConsole);
  try {
    await listen(() => ops.listen({ host, port }), 'OPS_PORT', port);
    return ops;
  } catch (error) {
    await ops.close();
    throw error;
  }
}

export function portOf({ server }: Pick<FastifyInstance, 'server'>): number {
  return (server.address() as AddressInfo).port;
}

export interface DepsOptions {
  readonly config: ServiceConfig;
  readonly pools: Pools;
  readonly log: Logger;
  readonly provider: Provider | undefined;
  wakeTopUps(): void;
  readonly chargeLimits?: Partial<QueueLimits> | undefined;
  readonly sendTimes?: SendTimes | undefined;
  /** By which receivers of webhooks know the service. */
  readonly clientCertificate?: Certificate | undefined;
}

/** All dependencies of the operations. For `startService()`, and for benchmarks of single parts. */
export function makeDeps({
  config,
  pools: { db, admissionDb, backgroundDb },
  log,
  provider,
  wakeTopUps,
  chargeLimits,
  sendTimes,
  clientCertificate,
}: DepsOptions): Deps {
  const box = new SecretBox(config.secretsKey, config.secretsKeyFallback);
  // Already validated when the configuration was read.
  const webhookNetworks = config.webhookNetworks.map((each) => parseRange(each)!);
  const signer = new DatabaseSigner(db, box);
  const events = new EventWaker(db, log);
  const keyLookups = new KeyLookups(db);
  const mailer = config.mail && new SmtpMailer(config.mail);
  const metrics = makeMetrics();
  const servers = isDistributed() ? new TenantServers(db) : undefined;
  const serverOf: ServerOf = (tenant) => servers?.of(tenant);
  const ofBackground = backgroundDb === db ? 0 : backgroundDb.options.max;
  const calls = new CallQueue(callQueueLimits(db.options.max), serverOf);
  const deps: Deps = {
    db,
    log,
    provider,
    wakeTopUps,
    metrics,
    rates: new RateCards(),
    charges: new ChargeQueue(
      {
        free: (batches) => chargeFreeBatches(deps, batches),
        tenant: (tenant, batches, charging) => chargeTenant(deps, tenant, batches, charging),
        serverOf,
      },
      {
        ...separateLimits(db.options.max + ofBackground),
        ...(isDistributed() && DISTRIBUTED_LIMITS),
        ...chargeLimits,
      },
    ),
    unpaidRecords: new UnpaidRecords(db),
    repeatMemory: new RepeatMemory(),
    knownFilters: new KnownFilters({
      bytesMax: config.archiveFilterMb * 2 ** 20,
      onNoPlace: (tenant) => log.warn({ tenant: renderTenantId(tenant) }, NO_FILTER),
    }),
    keyLookups,
    failedKeys: new FailedKeys(db),
    lastUses: new LastUses(backgroundDb),
    signupLimit: new SignupLimit(db, config.signupsPerHour),
    loginLimit: new LoginLimit(db),
    invitationLimit: new InvitationLimit(db),
    resendLimit: new ResendLimit(db),
    consoleMails: new ConsoleMailRows(box),
    issuer: config.oidc && new Issuer(config.oidc),
    checkoutLimit: new CheckoutLimit(db, config.checkoutsPerSecond),
    connections: new ConnectionLimit({
      max: config.clientConnectionsMax,
      perAddressMax: config.clientConnectionsPerAddressMax,
      // Already validated when the configuration was read.
      trusted: config.trustProxy.map((each) => parseRange(each)!),
    }),
    keyRate: new KeyRate(),
    calls,
    heavyReads: new HeavyReads(heavyReadLimits(db.options.max), calls, serverOf),
    gatheredCalls: new CallQueue(gatheredCallLimits(db.options.max), serverOf),
    admissions: new GatheredAdmissions(
      admissionDb,
      // Those of one server leave half of the connections to the others.
      servers && new ServerLanes(serverOf, Math.ceil(admissionDb.options.max / 2)),
    ),
    providerCalls: new CallQueue(callQueueLimits(PROVIDER_CALLS_MAX), serverOf),
    webhookCalls: new CallQueue(callQueueLimits(WEBHOOK_CALLS_MAX), serverOf),
    webhookSender: new WebhookSender({
      allowed: webhookNetworks,
      clientCertificate,
      ...(sendTimes && { times: sendTimes }),
    }),
    signer,
    box,
    events,
    streams: new StreamLimit(),
    snapshots: new SnapshotLimit(),
    revocations: new RevocationFeed(
      {
        db,
        signer,
        publicUrl: config.publicUrl,
        keyLookups,
        metrics,
        connectionsMax: config.clientConnectionsMax,
      },
      events,
      log,
    ),
    mailer,
    sightings: new Sightings(backgroundDb, metrics.sightingsDropped),
    config: {
      keyPrefix: config.keyPrefix,
      publicUrl: config.publicUrl,
      issuerDetails: config.issuerDetails,
      signupCheckoutCents: config.signupCheckoutCents,
      checkoutOptions: config.checkoutOptions,
      billingRounding: config.billingRounding,
      joinCreatesRooms: config.joinCreatesRooms,
      confusableUsernames: config.confusableUsernames,
      webhookNetworks,
      webhookEgress: config.webhookEgress,
      eventDays: config.eventDays,
      mailDays: config.mailDays,
      auditAddressDays: config.auditAddressDays,
      archiveAfterSeconds: config.archiveAfterSeconds,
      strictTransportSeconds: config.strictTransportSeconds,
      grpcPort: config.grpcPort,
      tls: config.tls,
      mcp: config.mcp,
      supportEmail: config.supportEmail,
      mailsShown: mailsShownOf(config),
      hasSandbox: config.mailboxUrl !== undefined && !config.production,
    },
  };
  return deps;
}

function mailsShownOf({ mail, production, mailboxUrl }: ServiceConfig): MailsShown {
  if (mail || production) return undefined;
  return mailboxUrl === undefined ? 'in the log' : { mailboxUrl };
}

async function listen<T>(open: () => Promise<T>, variable: string, port: number): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new ListenError(`port ${port} is taken: set ${variable} to another one`);
    throw new ListenError(`cannot listen on port ${port} (${variable}): ${message}`);
  }
}
