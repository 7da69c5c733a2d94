/**
 * The environment, read once.
 *
 * The rest of the service receives plain values from here. A value that is not understood stops the
 * start with one line that names the variable and what it accepts.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { OidcConfig } from '../access/oidc/oidc-config.ts';
import type { ConfusableUsernames } from '../access/usernames/username.ts';
import { parseRange } from '../base/lib/address.ts';
import { SECRETS_KEY_BYTES } from '../base/lib/secret-box.ts';
import { isMailAddress } from '../base/tenants/mail-address.ts';
import type { Tls } from '../doors/grpc/tls.ts';
import type { CheckoutOptions } from '../money/checkouts/checkout-options.ts';
import { ROUNDINGS, type Rounding } from '../money/pricing/carry.ts';
import { TOP_UP_CENTS_MAX, TOP_UP_CENTS_MIN } from '../money/top-ups/top-up-amount.ts';
import { parseMailSender } from '../outward/mail/mail-sender.ts';
import type { MailConfig } from '../outward/mail/mailer.ts';
import { parseSmtpUrl } from '../outward/mail/smtp-server.ts';
import { ConfigError, type Env, wrong } from './config-error.ts';
import { budgetConnections, type ConnectionBudget } from './connection-budget.ts';
import { readOidc } from './read-oidc.ts';

export type PaymentsMode = 'stripe' | 'sandbox' | 'none';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  /** For the gRPC listener; `undefined`: plain HTTP/2, for a proxy that terminates TLS. */
  readonly tls: Tls | undefined;
  readonly opsPort: number;
  /** Number of serving processes. With 1, the initial process serves by itself. */
  readonly workers: number;
  /** Separate address of `/join`; `undefined`: on the REST interface's address. */
  readonly joinAddress: { readonly host: string; readonly port: number } | undefined;
  /** Origins of the web pages that may join; `*` allows all. */
  readonly joinOrigins: readonly string[];
  readonly joinCreatesRooms: boolean;
  readonly confusableUsernames: ConfusableUsernames;
  /** Encrypts signing keys at rest. `undefined`: kept in `dataDir`, with the embedded PostgreSQL only. */
  readonly secretsKey: Buffer | undefined;
  /** `undefined`: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Opens the same database without the pooler that `databaseUrl` is the address of; `undefined`: that is none. */
  readonly databaseDirectUrl: string | undefined;
  /** Opens the same database as its owner, for migrations; `undefined`: `databaseUrl` does. */
  readonly migrationsDatabaseUrl: string | undefined;
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
  /** `undefined`: no mail is sent. */
  readonly mail: MailConfig | undefined;
  /** `undefined`: there is no log-in with an issuer. */
  readonly oidc: OidcConfig | undefined;
  /** CIDRs of addresses that may get webhooks although they are private, also without TLS. */
  readonly webhookNetworks: readonly string[];
  readonly logLevel: LogLevel;
  readonly production: boolean;
  readonly tracing: boolean;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const YEAR_SECONDS = 365 * 86_400;

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
    tls: readTls(env),
    opsPort,
    workers,
    joinAddress: readJoinAddress(env, host),
    joinOrigins: readOrigins(env),
    joinCreatesRooms: readFlag(env, 'JOIN_CREATES_ROOMS', true),
    confusableUsernames: readChoice(env, 'CONFUSABLE_USERNAMES', ['allow', 'refuse'], 'allow'),
    secretsKey: readSecretsKey(env),
    databaseUrl: readServiceDatabaseUrl(env, production),
    databaseDirectUrl: readFurtherDatabaseUrl(env, 'DATABASE_DIRECT_URL'),
    migrationsDatabaseUrl: readFurtherDatabaseUrl(env, 'MIGRATIONS_DATABASE_URL'),
    databaseWaitSeconds: readInteger(env, 'DATABASE_WAIT_SECONDS', 60, 0, 3_600),
    connectionBudget: readConnectionBudget(env, workers),
    dataDir: resolve(env.DATA_DIR || './data'),
    publicUrl: readUrl(env, 'PUBLIC_URL') ?? urlOf(host, port),
    opsUrl: readUrl(env, 'OPS_URL') ?? urlOf(host, opsPort),
    opsHosts: readHosts(env, 'OPS_HOSTS'),
    strictTransportSeconds: readInteger(env, 'HSTS_SECONDS', YEAR_SECONDS, 0, 2 * YEAR_SECONDS),
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
    billingRounding: readChoice(env, 'BILLING_ROUNDING', ROUNDINGS, 'carry'),
    mail: readMail(env),
    oidc: readOidc(env),
    webhookNetworks: readWebhookNetworks(env, payments),
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    production,
    tracing: Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
  });
}

function readInteger(env: Env, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < min || value > max) {
    throw wrong(name, `a whole number from ${min} to ${max}`, text);
  }
  return value;
}

function readHost(env: Env, name: string, fallback: string): string {
  const host = env[name] || fallback;
  if (isIP(host) === 0 && !/^[A-Za-z0-9.-]+$/.test(host))
    throw wrong(name, 'an address or a host name', host);
  return host;
}

/** Without ports. An IPv6 address may have brackets. */
function readHosts(env: Env, name: string): readonly string[] {
  return readList(env, name).map((each) => {
    const host = each.toLowerCase().replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) === 0 && !/^[a-z0-9.-]+$/.test(host))
      throw wrong(name, 'a list of addresses or host names without ports', each);
    return host;
  });
}

/** 0 asks the operating system for a free port. */
function readPort(env: Env, name: string, fallback: number): number {
  return readInteger(env, name, fallback, 0, 65_535);
}

function readChoice<T extends string>(env: Env, name: string, choices: readonly T[], fallback: T): T {
  const text = env[name];
  if (!text) return fallback;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw wrong(name, `one of ${choices.join(', ')}`, text);
  return choice;
}

function readFlag(env: Env, name: string, fallback: boolean): boolean {
  return readChoice(env, name, ['true', 'false'], `${fallback}`) === 'true';
}

function readTls(env: Env): Tls | undefined {
  const { TLS_CERT: certificateFile, TLS_KEY: keyFile } = env;
  if (!certificateFile && !keyFile) return undefined;
  if (!certificateFile) throw new ConfigError('TLS_CERT must be set when TLS_KEY is');
  if (!keyFile) throw new ConfigError('TLS_KEY must be set when TLS_CERT is');
  return { certificateFile: resolve(certificateFile), keyFile: resolve(keyFile) };
}

/** Either variable enables the separate address. The other one then has a default. */
function readJoinAddress(env: Env, host: string): Config['joinAddress'] {
  if (!env.JOIN_HOST && !env.JOIN_PORT) return undefined;
  return { host: readHost(env, 'JOIN_HOST', host), port: readPort(env, 'JOIN_PORT', 8084) };
}

function readOrigins(env: Env): readonly string[] {
  const origins = readList(env, 'JOIN_ORIGINS');
  for (const each of origins) {
    const isOrigin = /^https?:[^*]+$/.test(each) && URL.parse(each)?.origin === each;
    if (!isOrigin && (each !== '*' || origins.length > 1)) {
      throw wrong('JOIN_ORIGINS', 'a list of origins, such as https://example.com, or *', each);
    }
  }
  return origins;
}

/** Decodes a base64 key of 32 bytes; `undefined` for anything else. */
export function parseSecretsKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === SECRETS_KEY_BYTES && key.toString('base64') === text ? key : undefined;
}

function readSecretsKey(env: Env): Buffer | undefined {
  if (!env.SECRETS_KEY) return undefined;
  const key = parseSecretsKey(env.SECRETS_KEY);
  // The value is a secret, so it is not repeated.
  if (!key)
    throw new ConfigError('SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints');
  return key;
}

function readList(env: Env, name: string): readonly string[] {
  return (env[name] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
}

/** The address of a listener on this machine. */
function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function readUrl(env: Env, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  if (url?.username || url?.password) {
    throw new ConfigError(`${name} may not hold a user name or a password`);
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw wrong(name, 'an http or https address', text);
  }
  return text.replace(/\/+$/, '');
}

/** `undefined`: the embedded PostgreSQL, which production has to ask for. */
function readServiceDatabaseUrl(env: Env, production: boolean): string | undefined {
  const url = readDatabaseUrl(env, 'DATABASE_URL');
  const fallback = url || production ? 'false' : 'true';
  const embedded = readChoice(env, 'EMBEDDED_DATABASE', ['true', 'false'], fallback) === 'true';
  if (embedded && url) throw new ConfigError('EMBEDDED_DATABASE may not be true when DATABASE_URL is set');
  if (url || embedded) return url;
  const when = env.EMBEDDED_DATABASE ? 'EMBEDDED_DATABASE is false' : 'NODE_ENV is production';
  throw new ConfigError(
    `DATABASE_URL must be set when ${when}; EMBEDDED_DATABASE=true asks for the embedded one`,
  );
}

function readDatabaseUrl(env: Env, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  // The value may hold a password, so it is not repeated.
  // Several hosts with ports are no URL.
  if (/^postgres(ql)?:\/\/([^/?]*@)?[^/?@]*,[^/?@]*([/?]|$)/.test(text)) {
    throw new ConfigError(`${name} must name one host: set it to a proxy that knows the primary`);
  }
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new ConfigError(`${name} must be a postgres:// address`);
  }
  return text;
}

/** Another way to the database of DATABASE_URL. */
function readFurtherDatabaseUrl(env: Env, name: string): string | undefined {
  const url = readDatabaseUrl(env, name);
  if (url && !env.DATABASE_URL) throw new ConfigError(`DATABASE_URL must be set when ${name} is`);
  return url;
}

function readConnectionBudget(env: Env, workers: number): ConnectionBudget {
  const name = 'DATABASE_CONNECTIONS_MAX';
  return budgetConnections(workers, env[name] ? readInteger(env, name, 0, 1, 100_000) : undefined);
}

function readPayments(env: Env, production: boolean): PaymentsMode {
  const fallback = env.STRIPE_SECRET_KEY ? 'stripe' : production ? 'none' : 'sandbox';
  const payments = readChoice(env, 'PAYMENTS', ['stripe', 'sandbox', 'none'], fallback);
  if (payments === 'sandbox' && production) {
    throw new ConfigError('PAYMENTS must be stripe or none when NODE_ENV is production, not "sandbox"');
  }
  return payments;
}

function readStripeKey(env: Env, payments: PaymentsMode): string | undefined {
  if (payments !== 'stripe') return undefined;
  if (!env.STRIPE_SECRET_KEY) throw new ConfigError('STRIPE_SECRET_KEY must be set when PAYMENTS is stripe');
  return env.STRIPE_SECRET_KEY;
}

/** Whether payments go to Stripe's test mode, in which no money moves. */
export function isTestMode({ payments, stripeSecretKey }: Config): boolean {
  return payments === 'stripe' && /^[rs]k_test_/.test(stripeSecretKey ?? '');
}

function readWebhookSecrets(env: Env, payments: PaymentsMode): readonly string[] {
  if (payments !== 'stripe') return [];
  const secrets = readList(env, 'STRIPE_WEBHOOK_SECRET');
  if (secrets.length === 0) {
    throw new ConfigError(
      'STRIPE_WEBHOOK_SECRET must be set when PAYMENTS is stripe: credit comes by webhook',
    );
  }
  return secrets;
}

function readMail(env: Env): MailConfig | undefined {
  if (!env.SMTP_URL) return undefined;
  const server = parseSmtpUrl(env.SMTP_URL);
  // The value may hold a password, so it is not repeated.
  if (!server) {
    throw new ConfigError(
      'SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465, ' +
        'with the user and password percent-encoded, or without both',
    );
  }
  if (!env.MAIL_FROM) throw new ConfigError('MAIL_FROM must be set when SMTP_URL is');
  const from = parseMailSender(env.MAIL_FROM);
  if (!from) throw wrong('MAIL_FROM', 'an address, or Name <address>', env.MAIL_FROM);
  return { server, from };
}

function readSupportEmail(env: Env): string | undefined {
  const text = env.SUPPORT_EMAIL;
  if (!text) return undefined;
  if (!isMailAddress(text)) throw wrong('SUPPORT_EMAIL', 'a mail address', text);
  return text;
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

function readNetworks(env: Env, name: string): readonly string[] {
  const list = readList(env, name);
  for (const each of list) {
    if (!parseRange(each)) {
      throw wrong(name, 'a list of addresses or CIDRs, such as 10.0.0.0/8', each);
    }
  }
  return list;
}
