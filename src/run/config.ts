/**
 * The environment, read once.
 *
 * The rest of the service receives plain values from here. A value that is not understood stops the
 * start with one line that names the variable and what it accepts.
 */
import { resolve } from 'node:path';
import type { OidcConfig } from '../access/oidc/oidc-config.ts';
import type { ConfusableUsernames } from '../access/usernames/username.ts';
import { ADDRESS_DAYS } from '../base/audit/audit-entry.ts';
import type { PemFiles, PemVariables } from '../base/lib/pem-files.ts';
import { EVENT_DAYS, EVENT_DAYS_MAX } from '../events/event.ts';
import type { CheckoutOptions } from '../money/checkouts/checkout-options.ts';
import { ROUNDINGS, type Rounding } from '../money/pricing/carry.ts';
import type { BillingDetails } from '../money/statements/billing-details.ts';
import { TOP_UP_CENTS_MAX, TOP_UP_CENTS_MIN } from '../money/top-ups/top-up-amount.ts';
import { MAIL_DAYS, MAIL_DAYS_MIN } from '../outward/mail/mail.ts';
import type { MailConfig } from '../outward/mail/mailer.ts';
import { type Env, wrong } from './config-error.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { readConnectionBudget, readFurtherDatabaseUrl, readServiceDatabaseUrl } from './read-database.ts';
import { readIssuer } from './read-issuer.ts';
import { type ListenerAddress, readJoinAddress, readOrigins, readPemFiles, urlOf } from './read-listeners.ts';
import { readMail, readSupportEmail } from './read-mail.ts';
import { readOidc } from './read-oidc.ts';
import { type PaymentsMode, readPayments, readStripeKey, readWebhookSecrets } from './read-payments.ts';
import { readSecretsKey } from './read-secrets-key.ts';
import {
  readChoice,
  readFlag,
  readHost,
  readHosts,
  readInteger,
  readNetworks,
  readPeriod,
  readPort,
  readUrl,
} from './read-values.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  /** For the gRPC listener; `undefined`: plain HTTP/2, for a proxy that terminates TLS. */
  readonly tls: PemFiles | undefined;
  readonly opsPort: number;
  /** Number of serving processes. With 1, the initial process serves by itself. */
  readonly workers: number;
  /** Separate address of `/join`; `undefined`: on the REST interface's address. */
  readonly joinAddress: ListenerAddress | undefined;
  /** Origins of the web pages that may join; `*` allows all. */
  readonly joinOrigins: readonly string[];
  readonly joinCreatesRooms: boolean;
  readonly confusableUsernames: ConfusableUsernames;
  /** Encrypts signing keys at rest. `undefined`: kept in `dataDir`, with the embedded PostgreSQL only. */
  readonly secretsKey: Buffer | undefined;
  /** Opens what is not sealed by `secretsKey` yet, or what other processes seal with it already; `undefined`: there is no other key. */
  readonly secretsKeyFallback: Buffer | undefined;
  /** `undefined`: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Opens the same database without the pooler that `databaseUrl` is the address of; `undefined`: that is none. */
  readonly databaseDirectUrl: string | undefined;
  /** Opens the same database as its owner, for migrations; `undefined`: `databaseUrl` does. */
  readonly migrationsDatabaseUrl: string | undefined;
  /** For backups: the same database as a role that may read all of it, or a standby; `undefined`: another address is used. */
  readonly backupDatabaseUrl: string | undefined;
  /** How long a start waits for a database that is not there yet. */
  readonly databaseWaitSeconds: number;
  /** Database connections of each process, and of all. */
  readonly connectionBudget: ConnectionBudget;
  readonly dataDir: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** Where operators open their console, without a trailing slash. */
  readonly opsUrl: string;
  /** Further names and addresses of the operator's port, without ports, in lower case. */
  readonly opsHosts: readonly string[];
  /** How long browsers ask for TLS alone, if an address is https; 0: they are not told to. */
  readonly strictTransportSeconds: number;
  /** What statements say of the operator. */
  readonly issuerDetails: BillingDetails;
  /** Where people of a tenant write to; `undefined`: no address is named. */
  readonly supportEmail: string | undefined;
  readonly payments: PaymentsMode;
  readonly stripeSecretKey: string | undefined;
  readonly stripeWebhookSecrets: readonly string[];
  readonly stripeApiBase: string | undefined;
  readonly sandboxPort: number;
  readonly keyPrefix: string;
  readonly ratesFile: string | undefined;
  /** CIDRs of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[];
  /** Connections of each process, over all its public ports. */
  readonly clientConnectionsMax: number;
  /** How many of them one client address may have. */
  readonly clientConnectionsPerAddressMax: number;
  readonly signupCheckoutCents: number;
  readonly checkoutOptions: CheckoutOptions;
  /** From all addresses together. */
  readonly signupsPerHour: number;
  /** The limit of all tenants together. */
  readonly checkoutsPerSecond: number;
  readonly billingRounding: Rounding;
  /** How old usage records are when they move into the archive; `undefined`: none does. */
  readonly archiveAfterSeconds: number | undefined;
  /** Memory of each process for filters of archived ids. */
  readonly archiveFilterMb: number;
  /** `undefined`: no mail is sent. */
  readonly mail: MailConfig | undefined;
  /** `undefined`: there is no log-in with an issuer. */
  readonly oidc: OidcConfig | undefined;
  /** CIDRs of addresses that may get webhooks although they are private, also without TLS. */
  readonly webhookNetworks: readonly string[];
  /** The certificate by which receivers of webhooks know the service; `undefined`: it has none. */
  readonly webhookClientTls: PemFiles | undefined;
  /** How long events are kept, and attempts to deliver them. */
  readonly eventDays: number;
  /** How long mails are kept that were sent, or given up. */
  readonly mailDays: number;
  /** How long the audit trail has addresses of clients. */
  readonly auditAddressDays: number;
  /** Addresses and CIDRs from which requests to webhooks come, for tenants to read. */
  readonly webhookEgress: readonly string[];
  /** Agents may call tools at `/mcp`. */
  readonly mcp: boolean;
  readonly logLevel: LogLevel;
  readonly production: boolean;
  readonly tracing: boolean;
}

/** The settings of `webhookClientTls`. */
export const WEBHOOK_CLIENT_TLS = {
  certificate: 'WEBHOOK_CLIENT_CERT',
  key: 'WEBHOOK_CLIENT_KEY',
} as const satisfies PemVariables;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const YEAR_DAYS = 365;
const YEAR_SECONDS = YEAR_DAYS * 86_400;

/** Read and validate the whole environment. Throws `ConfigError` at the first wrong value. */
export function readConfig(env: Env): Config {
  const host = readHost(env, 'HOST', '127.0.0.1');
  const port = readPort(env, 'PORT', 8080);
  const opsPort = readPort(env, 'OPS_PORT', 8083);
  const production = env.NODE_ENV === 'production';
  const payments = readPayments(env, production);
  const workers = readInteger(env, 'WORKERS', 1, 1, 64);

  return Object.freeze({
    host,
    port,
    grpcPort: readPort(env, 'GRPC_PORT', 8081),
    tls: readPemFiles(env, { certificate: 'TLS_CERT', key: 'TLS_KEY' }),
    opsPort,
    workers,
    joinAddress: readJoinAddress(env, host),
    joinOrigins: readOrigins(env),
    joinCreatesRooms: readFlag(env, 'JOIN_CREATES_ROOMS', true),
    confusableUsernames: readChoice(env, 'CONFUSABLE_USERNAMES', ['allow', 'refuse'], 'allow'),
    secretsKey: readSecretsKey(env, 'SECRETS_KEY'),
    secretsKeyFallback: readSecretsKey(env, 'SECRETS_KEY_FALLBACK'),
    databaseUrl: readServiceDatabaseUrl(env, production),
    databaseDirectUrl: readFurtherDatabaseUrl(env, 'DATABASE_DIRECT_URL'),
    migrationsDatabaseUrl: readFurtherDatabaseUrl(env, 'MIGRATIONS_DATABASE_URL'),
    backupDatabaseUrl: readFurtherDatabaseUrl(env, 'BACKUP_DATABASE_URL'),
    databaseWaitSeconds: readInteger(env, 'DATABASE_WAIT_SECONDS', 60, 0, 3_600),
    connectionBudget: readConnectionBudget(env, workers),
    dataDir: resolve(env.DATA_DIR || './data'),
    publicUrl: readUrl(env, 'PUBLIC_URL') ?? urlOf(host, port),
    opsUrl: readUrl(env, 'OPS_URL') ?? urlOf(host, opsPort),
    opsHosts: readHosts(env, 'OPS_HOSTS'),
    strictTransportSeconds: readInteger(env, 'HSTS_SECONDS', YEAR_SECONDS, 0, 2 * YEAR_SECONDS),
    issuerDetails: readIssuer(env),
    supportEmail: readSupportEmail(env),
    payments,
    stripeSecretKey: readStripeKey(env, payments),
    stripeWebhookSecrets: readWebhookSecrets(env, payments),
    stripeApiBase: readUrl(env, 'STRIPE_API_BASE'),
    sandboxPort: readPort(env, 'SANDBOX_PORT', 8082),
    keyPrefix: readKeyPrefix(env),
    ratesFile: env.RATES_FILE ? resolve(env.RATES_FILE) : undefined,
    trustProxy: readNetworks(env, 'TRUST_PROXY'),
    clientConnectionsMax: readInteger(env, 'CONNECTIONS_MAX', 10_000, 1, 1_000_000),
    clientConnectionsPerAddressMax: readInteger(env, 'CONNECTIONS_PER_ADDRESS_MAX', 1_000, 1, 1_000_000),
    signupCheckoutCents: readInteger(env, 'SIGNUP_CHECKOUT_CENTS', 2000, TOP_UP_CENTS_MIN, TOP_UP_CENTS_MAX),
    checkoutOptions: {
      tax: readFlag(env, 'CHECKOUT_TAX', false),
      taxIds: readFlag(env, 'CHECKOUT_TAX_IDS', false),
      invoices: readFlag(env, 'CHECKOUT_INVOICES', false),
    },
    signupsPerHour: readInteger(env, 'SIGNUPS_PER_HOUR', 20_000, 1, 1_000_000),
    // Stripe accepts 25 calls a second for each kind of object; the sandbox has no limit.
    checkoutsPerSecond: readInteger(
      env,
      'CHECKOUTS_PER_SECOND',
      payments === 'sandbox' ? 1_000 : 15,
      1,
      1_000,
    ),
    archiveAfterSeconds: readPeriod(env, 'ARCHIVE_AFTER', '1d'),
    archiveFilterMb: readInteger(env, 'ARCHIVE_FILTER_MB', 256, 0, 100_000),
    billingRounding: readChoice(env, 'BILLING_ROUNDING', ROUNDINGS, 'carry'),
    mail: readMail(env),
    oidc: readOidc(env),
    webhookNetworks: readWebhookNetworks(env, payments),
    webhookClientTls: readPemFiles(env, WEBHOOK_CLIENT_TLS),
    eventDays: readInteger(env, 'EVENT_DAYS', EVENT_DAYS, EVENT_DAYS, EVENT_DAYS_MAX),
    mailDays: readInteger(env, 'MAIL_DAYS', MAIL_DAYS, MAIL_DAYS_MIN, YEAR_DAYS),
    auditAddressDays: readInteger(env, 'AUDIT_ADDRESS_DAYS', ADDRESS_DAYS, 1, 10 * YEAR_DAYS),
    webhookEgress: readNetworks(env, 'WEBHOOK_EGRESS'),
    mcp: readFlag(env, 'MCP_TOOLS', false),
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    production,
    tracing: Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
  });
}

function readKeyPrefix(env: Env): string {
  const text = env.KEY_PREFIX;
  if (!text) return 'svc';
  // A key is parsed by its first two underscores, so its prefix must not contain one.
  if (!/^[A-Za-z0-9]{1,20}$/.test(text)) throw wrong('KEY_PREFIX', '1 to 20 letters or digits', text);
  if (text === 'dev') throw wrong('KEY_PREFIX', 'something else than the prefix of device credentials', text);
  return text;
}

/** So that tenants of a sandbox can try webhooks on the same machine. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

function readWebhookNetworks(env: Env, payments: PaymentsMode): readonly string[] {
  if (!env.WEBHOOK_NETWORKS) return payments === 'sandbox' ? LOOPBACK : [];
  return env.WEBHOOK_NETWORKS === 'none' ? [] : readNetworks(env, 'WEBHOOK_NETWORKS');
}
