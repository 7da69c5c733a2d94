import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/run/config.ts';
import { ConfigError } from '../../src/run/config-error.ts';
import { isTestMode } from '../../src/run/read-payments.ts';

const refusal = (env: Record<string, string>) => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return undefined;
};

describe('an empty environment', () => {
  test('is for trying things out on this machine', () => {
    const config = readConfig({});
    expect(config).toStrictEqual({
      host: '127.0.0.1',
      port: 8080,
      grpcPort: 8081,
      tls: undefined,
      opsPort: 8083,
      workers: 1,
      joinAddress: undefined,
      joinOrigins: [],
      joinCreatesRooms: true,
      confusableUsernames: 'allow',
      secretsKey: undefined,
      secretsKeyFallback: undefined,
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      backupDatabaseUrl: undefined,
      migrationsDatabaseUrl: undefined,
      databaseWaitSeconds: 60,
      connectionBudget: { ofEach: 20, total: 21 },
      dataDir: resolve('data'),
      publicUrl: 'http://127.0.0.1:8080',
      opsUrl: 'http://127.0.0.1:8083',
      opsHosts: [],
      archiveAfterSeconds: 86_400,
      archiveFilterMb: 256,
      strictTransportSeconds: 31_536_000,
      issuerDetails: { name: undefined, address: [], taxId: undefined },
      supportEmail: undefined,
      payments: 'sandbox',
      stripeSecretKey: undefined,
      stripeWebhookSecrets: [],
      stripeApiBase: undefined,
      sandboxPort: 8082,
      keyPrefix: 'svc',
      ratesFile: undefined,
      trustProxy: [],
      clientConnectionsMax: 10_000,
      clientConnectionsPerAddressMax: 1_000,
      signupCheckoutCents: 2000,
      checkoutOptions: { tax: false, taxIds: false, invoices: false },
      signupsPerHour: 20_000,
      checkoutsPerSecond: 1_000,
      billingRounding: 'carry',
      mail: undefined,
      oidc: undefined,
      webhookNetworks: ['127.0.0.0/8', '::1'],
      webhookEgress: [],
      webhookClientTls: undefined,
      eventDays: 7,
      mailDays: 30,
      auditAddressDays: 400,
      mcp: false,
      logLevel: 'info',
      production: false,
      tracing: false,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });
});

describe('values', () => {
  test.each([
    [{ PORT: '0' }, { port: 0 }],
    [{ WORKERS: '64' }, { workers: 64 }],
    [{ PORT: '65535' }, { port: 65_535, publicUrl: 'http://127.0.0.1:65535' }],
    [{ HOST: '::1' }, { host: '::1', publicUrl: 'http://[::1]:8080' }],
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
    [{ PUBLIC_URL: 'https://api.example.com//' }, { publicUrl: 'https://api.example.com' }],
    [{ DATABASE_URL: 'postgresql://u:p@db/x' }, { databaseUrl: 'postgresql://u:p@db/x' }],
    [{ DATABASE_URL: 'postgres://u:p,w@db/x?a=b,c' }, { databaseUrl: 'postgres://u:p,w@db/x?a=b,c' }],
    [
      { DATABASE_URL: 'postgres://app@pooler/x', DATABASE_DIRECT_URL: 'postgres://app@db/x' },
      { databaseUrl: 'postgres://app@pooler/x', databaseDirectUrl: 'postgres://app@db/x' },
    ],
    [
      { DATABASE_URL: 'postgres://app@db/x', BACKUP_DATABASE_URL: 'postgres://app@standby/x' },
      { databaseUrl: 'postgres://app@db/x', backupDatabaseUrl: 'postgres://app@standby/x' },
    ],
    [
      { WORKERS: '2', DATABASE_CONNECTIONS_MAX: '30' },
      { workers: 2, connectionBudget: { ofEach: 12, total: 30 } },
    ],
    [
      { DATABASE_URL: 'postgres://app@db/x', MIGRATIONS_DATABASE_URL: 'postgres://owner@db/x' },
      { databaseUrl: 'postgres://app@db/x', migrationsDatabaseUrl: 'postgres://owner@db/x' },
    ],
    [
      {
        ISSUER_NAME: 'Boxoffice GmbH',
        ISSUER_ADDRESS: ' Am Kai 1;20457 Hamburg; Germany;',
        ISSUER_TAX_ID: 'DE1',
      },
      {
        issuerDetails: {
          name: 'Boxoffice GmbH',
          address: ['Am Kai 1', '20457 Hamburg', 'Germany'],
          taxId: 'DE1',
        },
      },
    ],
    [{ KEY_PREFIX: 'live1' }, { keyPrefix: 'live1' }],
    [{ TRUST_PROXY: ' 10.0.0.0/8, ::1 ,192.0.2.1' }, { trustProxy: ['10.0.0.0/8', '::1', '192.0.2.1'] }],
    [
      { OPS_HOSTS: 'Prometheus.internal, 10.0.0.1,[::1],fe80::1' },
      { opsHosts: ['prometheus.internal', '10.0.0.1', '::1', 'fe80::1'] },
    ],
    [{ HSTS_SECONDS: '0' }, { strictTransportSeconds: 0 }],
    [{ ARCHIVE_FILTER_MB: '0' }, { archiveFilterMb: 0 }],
    [{ ARCHIVE_AFTER: '0' }, { archiveAfterSeconds: 0 }],
    [{ ARCHIVE_AFTER: '36h' }, { archiveAfterSeconds: 129_600 }],
    [{ ARCHIVE_AFTER: '400d' }, { archiveAfterSeconds: 34_560_000 }],
    [{ ARCHIVE_AFTER: 'never' }, { archiveAfterSeconds: undefined }],
    [{ SUPPORT_EMAIL: 'help@example.com' }, { supportEmail: 'help@example.com' }],
    [{ TRUST_PROXY: '0.0.0.0/32,::/128' }, { trustProxy: ['0.0.0.0/32', '::/128'] }],
    [{}, { webhookNetworks: ['127.0.0.0/8', '::1'] }],
    [{ PAYMENTS: 'none' }, { webhookNetworks: [] }],
    [{ WEBHOOK_NETWORKS: 'none' }, { webhookNetworks: [] }],
    [
      { WEBHOOK_CLIENT_CERT: '/tls/client.pem', WEBHOOK_CLIENT_KEY: '/tls/client.key' },
      { webhookClientTls: { certificateFile: '/tls/client.pem', keyFile: '/tls/client.key' } },
    ],
    [{ EVENT_DAYS: '30' }, { eventDays: 30 }],
    [{ MAIL_DAYS: '7' }, { mailDays: 7 }],
    [{ AUDIT_ADDRESS_DAYS: '1' }, { auditAddressDays: 1 }],
    [{ MCP_TOOLS: 'true' }, { mcp: true }],
    [{ WEBHOOK_EGRESS: '203.0.113.7, 2001:db8::/64' }, { webhookEgress: ['203.0.113.7', '2001:db8::/64'] }],
    [{ WEBHOOK_NETWORKS: '10.0.0.0/8, fd00::/8' }, { webhookNetworks: ['10.0.0.0/8', 'fd00::/8'] }],
    [{ SIGNUPS_PER_HOUR: '1' }, { signupsPerHour: 1 }],
    [
      { PAYMENTS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_WEBHOOK_SECRET: 'whsec_x' },
      { checkoutsPerSecond: 15 },
    ],
    [{ CHECKOUTS_PER_SECOND: '25' }, { checkoutsPerSecond: 25 }],
    [{ CONNECTIONS_MAX: '1' }, { clientConnectionsMax: 1 }],
    [{ CONNECTIONS_PER_ADDRESS_MAX: '1000000' }, { clientConnectionsPerAddressMax: 1_000_000 }],
    [{ SIGNUP_CHECKOUT_CENTS: '1000' }, { signupCheckoutCents: 1000 }],
    [{ SIGNUP_CHECKOUT_CENTS: '1000000' }, { signupCheckoutCents: 1_000_000 }],
    [
      { CHECKOUT_TAX: 'true', CHECKOUT_TAX_IDS: 'false' },
      { checkoutOptions: { tax: true, taxIds: false, invoices: false } },
    ],
    [
      { CHECKOUT_TAX_IDS: 'true', CHECKOUT_INVOICES: 'true' },
      { checkoutOptions: { tax: false, taxIds: true, invoices: true } },
    ],
    [{ BILLING_ROUNDING: 'per_record' }, { billingRounding: 'per_record' }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      { SMTP_URL: 'smtp://us%40er:pw@mail.example.com', MAIL_FROM: 'Box Office <billing@example.com>' },
      {
        mail: {
          server: { host: 'mail.example.com', port: 587, secure: false, auth: { user: 'us@er', pass: 'pw' } },
          from: { name: 'Box Office', address: 'billing@example.com' },
        },
      },
    ],
    [{ MAIL_FROM: 'billing@example.com' }, { mail: undefined }],
    [{ GRPC_PORT: '0' }, { grpcPort: 0 }],
    [
      { TLS_CERT: 'tls/cert.pem', TLS_KEY: '/tls/key.pem' },
      { tls: { certificateFile: resolve('tls/cert.pem'), keyFile: '/tls/key.pem' } },
    ],
    [{ JOIN_PORT: '0' }, { joinAddress: { host: '127.0.0.1', port: 0 } }],
    [{ JOIN_PORT: '9000', HOST: '0.0.0.0' }, { joinAddress: { host: '0.0.0.0', port: 9000 } }],
    [{ JOIN_HOST: '::1' }, { joinAddress: { host: '::1', port: 8084 } }],
    [{ JOIN_ORIGINS: '*' }, { joinOrigins: ['*'] }],
    [
      { JOIN_ORIGINS: 'https://a.example, http://localhost:5173,' },
      { joinOrigins: ['https://a.example', 'http://localhost:5173'] },
    ],
    [{ JOIN_CREATES_ROOMS: 'false' }, { joinCreatesRooms: false }],
    [{ CONFUSABLE_USERNAMES: 'refuse' }, { confusableUsernames: 'refuse' }],
    [
      { SECRETS_KEY_FALLBACK: Buffer.alloc(32, 254).toString('base64') },
      { secretsKeyFallback: Buffer.alloc(32, 254) },
    ],
    [{ SECRETS_KEY: Buffer.alloc(32, 255).toString('base64') }, { secretsKey: Buffer.alloc(32, 255) }],
    [
      { NODE_ENV: 'production', DATABASE_URL: 'postgres://db/x' },
      { production: true, payments: 'none', databaseUrl: 'postgres://db/x' },
    ],
    [
      { NODE_ENV: 'production', EMBEDDED_DATABASE: 'true' },
      { production: true, databaseUrl: undefined },
    ],
    [{ EMBEDDED_DATABASE: 'true' }, { databaseUrl: undefined }],
    [{ EMBEDDED_DATABASE: 'false', DATABASE_URL: 'postgres://db/x' }, { databaseUrl: 'postgres://db/x' }],
    [
      { STRIPE_SECRET_KEY: 'sk', STRIPE_WEBHOOK_SECRET: 'whsec_1, whsec_2,' },
      { payments: 'stripe', stripeSecretKey: 'sk', stripeWebhookSecrets: ['whsec_1', 'whsec_2'] },
    ],
    [
      { PAYMENTS: 'none', STRIPE_SECRET_KEY: 'sk' },
      { payments: 'none', stripeSecretKey: undefined },
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, { tracing: true }],
  ])('%j', (env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });
});

test.each([
  [{ STRIPE_SECRET_KEY: 'sk_test_x' }, true],
  [{ STRIPE_SECRET_KEY: 'rk_test_x' }, true],
  [{ STRIPE_SECRET_KEY: 'sk_live_test_x' }, false],
  [{ STRIPE_SECRET_KEY: 'sk_test_x', PAYMENTS: 'none' }, false],
  [{}, false],
])('%j is the test mode of Stripe: %s', (env, expected) => {
  expect(isTestMode(readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_1', ...env }))).toBe(expected);
});

describe('refuses, with one line that names the variable', () => {
  test.each([
    [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536"'],
    [{ PORT: '-1' }, 'PORT must be a whole number from 0 to 65535, not "-1"'],
    [{ PORT: '80 ' }, 'PORT must be a whole number from 0 to 65535, not "80 "'],
    [{ PORT: '1e3' }, 'PORT must be a whole number from 0 to 65535, not "1e3"'],
    [{ PORT: '0x50' }, 'PORT must be a whole number from 0 to 65535, not "0x50"'],
    [{ GRPC_PORT: 'x' }, 'GRPC_PORT must be a whole number from 0 to 65535, not "x"'],
    [{ TLS_CERT: 'cert.pem' }, 'TLS_KEY must be set when TLS_CERT is'],
    [{ WEBHOOK_CLIENT_CERT: 'c.pem' }, 'WEBHOOK_CLIENT_KEY must be set when WEBHOOK_CLIENT_CERT is'],
    [{ TLS_KEY: 'key.pem' }, 'TLS_CERT must be set when TLS_KEY is'],
    [{ OPS_PORT: 'x' }, 'OPS_PORT must be a whole number from 0 to 65535, not "x"'],
    [{ OPS_HOSTS: 'a:80' }, 'OPS_HOSTS must be a list of addresses or host names without ports, not "a:80"'],
    ...['1', '-1d', '1.5d', '1D', 'Never'].map((value): [Record<string, string>, string] => [
      { ARCHIVE_AFTER: value },
      `ARCHIVE_AFTER must be hours or days such as 36h or 2d, 0, or never, not "${value}"`,
    ]),
    [{ HSTS_SECONDS: '-1' }, 'HSTS_SECONDS must be a whole number from 0 to 63072000, not "-1"'],
    [{ SUPPORT_EMAIL: 'help' }, 'SUPPORT_EMAIL must be a mail address, not "help"'],
    [
      { ISSUER_NAME: 'Boxoffice\nGmbH' },
      'ISSUER_NAME must be one line of at most 200 characters, not "Boxoffice\\nGmbH"',
    ],
    [
      { ISSUER_ADDRESS: '1;2;3;4;5;6;7' },
      'ISSUER_ADDRESS must be at most 6 lines of at most 100 characters, separated by semicolons, not "1;2;3;4;5;6;7"',
    ],
    [{ ISSUER_TAX_ID: ' ' }, 'ISSUER_TAX_ID must be one line of at most 50 characters, not " "'],
    [{ HOST: 'a b' }, 'HOST must be an address or a host name, not "a b"'],
    [{ PUBLIC_URL: 'api.example.com' }, 'PUBLIC_URL must be an http or https address, not "api.example.com"'],
    [{ PUBLIC_URL: 'ftp://x' }, 'PUBLIC_URL must be an http or https address, not "ftp://x"'],
    [{ PUBLIC_URL: 'https://x/?a=b' }, 'PUBLIC_URL must be an http or https address, not "https://x/?a=b"'],
    [{ DATABASE_URL: 'mysql://root:hunter2@x/y' }, 'DATABASE_URL must be a postgres:// address'],
    [{ MIGRATIONS_DATABASE_URL: 'mysql://x/y' }, 'MIGRATIONS_DATABASE_URL must be a postgres:// address'],
    [{ DATABASE_DIRECT_URL: 'mysql://x/y' }, 'DATABASE_DIRECT_URL must be a postgres:// address'],
    [
      { DATABASE_URL: 'postgres://u:hunter2@a,b/x' },
      'DATABASE_URL must name one host: set it to a proxy that knows the primary',
    ],
    [
      { MIGRATIONS_DATABASE_URL: 'postgresql://u:hunter2@a:1,b:2/x' },
      'MIGRATIONS_DATABASE_URL must name one host: set it to a proxy that knows the primary',
    ],
    [{ DATABASE_DIRECT_URL: 'postgres://x/y' }, 'DATABASE_URL must be set when DATABASE_DIRECT_URL is'],
    [
      { DATABASE_CONNECTIONS_MAX: 'x' },
      'DATABASE_CONNECTIONS_MAX must be a whole number from 1 to 100000, not "x"',
    ],
    [
      { DATABASE_CONNECTIONS_MAX: '15', WORKERS: '2' },
      'DATABASE_CONNECTIONS_MAX must be 16 or more when WORKERS is 2, not "15"',
    ],
    [
      { MIGRATIONS_DATABASE_URL: 'postgres://x/y' },
      'DATABASE_URL must be set when MIGRATIONS_DATABASE_URL is',
    ],
    [
      { NODE_ENV: 'production' },
      'DATABASE_URL must be set when NODE_ENV is production; EMBEDDED_DATABASE=true asks for the embedded one',
    ],
    [
      { EMBEDDED_DATABASE: 'false' },
      'DATABASE_URL must be set when EMBEDDED_DATABASE is false; EMBEDDED_DATABASE=true asks for the embedded one',
    ],
    [
      { EMBEDDED_DATABASE: 'true', DATABASE_URL: 'postgres://db/x' },
      'EMBEDDED_DATABASE may not be true when DATABASE_URL is set',
    ],
    [{ EMBEDDED_DATABASE: '1' }, 'EMBEDDED_DATABASE must be one of true, false, not "1"'],
    [{ PAYMENTS: 'paypal' }, 'PAYMENTS must be one of stripe, sandbox, none, not "paypal"'],
    [{ PAYMENTS: 'stripe' }, 'STRIPE_SECRET_KEY must be set when PAYMENTS is stripe'],
    [
      { STRIPE_SECRET_KEY: 'sk' },
      'STRIPE_WEBHOOK_SECRET must be set when PAYMENTS is stripe: credit comes by webhook',
    ],
    [
      { STRIPE_SECRET_KEY: 'sk', STRIPE_WEBHOOK_SECRET: ' , ' },
      'STRIPE_WEBHOOK_SECRET must be set when PAYMENTS is stripe: credit comes by webhook',
    ],
    [
      { PAYMENTS: 'sandbox', NODE_ENV: 'production' },
      'PAYMENTS must be stripe or none when NODE_ENV is production, not "sandbox"',
    ],
    [{ KEY_PREFIX: 'a_b' }, 'KEY_PREFIX must be 1 to 20 letters or digits, not "a_b"'],
    [
      { KEY_PREFIX: 'dev' },
      'KEY_PREFIX must be something else than the prefix of device credentials, not "dev"',
    ],
    [
      { TRUST_PROXY: 'true' },
      'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "true"',
    ],
    [{ EVENT_DAYS: '6' }, 'EVENT_DAYS must be a whole number from 7 to 90, not "6"'],
    [{ MAIL_DAYS: '6' }, 'MAIL_DAYS must be a whole number from 7 to 365, not "6"'],
    [{ AUDIT_ADDRESS_DAYS: '0' }, 'AUDIT_ADDRESS_DAYS must be a whole number from 1 to 3650, not "0"'],
    [
      { WEBHOOK_EGRESS: 'nat.example' },
      'WEBHOOK_EGRESS must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "nat.example"',
    ],
    [
      { WEBHOOK_NETWORKS: 'localhost' },
      'WEBHOOK_NETWORKS must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "localhost"',
    ],
    [{ TRUST_PROXY: '*' }, 'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "*"'],
    [{ TRUST_PROXY: '1' }, 'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "1"'],
    [
      { TRUST_PROXY: '10.0.0.0/33' },
      'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "10.0.0.0/33"',
    ],
    [
      { TRUST_PROXY: '10.0.0.0/' },
      'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "10.0.0.0/"',
    ],
    [
      { TRUST_PROXY: '::/129' },
      'TRUST_PROXY must be a list of addresses or CIDRs, such as 10.0.0.0/8, not "::/129"',
    ],
    [
      { SIGNUP_CHECKOUT_CENTS: '999' },
      'SIGNUP_CHECKOUT_CENTS must be a whole number from 1000 to 1000000, not "999"',
    ],
    [
      { SIGNUP_CHECKOUT_CENTS: '1000001' },
      'SIGNUP_CHECKOUT_CENTS must be a whole number from 1000 to 1000000, not "1000001"',
    ],
    ...['http://mail.example.com', 'smtp://user@mail.example.com', 'mail.example.com'].map(
      (SMTP_URL) =>
        [
          { SMTP_URL, MAIL_FROM: 'a@b.co' },
          'SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465, ' +
            'with the user and password percent-encoded, or without both',
        ] as [Record<string, string>, string],
    ),
    [{ SMTP_URL: 'smtp://mail.example.com' }, 'MAIL_FROM must be set when SMTP_URL is'],
    [
      { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'Boxoffice' },
      'MAIL_FROM must be an address, or Name <address>, not "Boxoffice"',
    ],
    [{ BILLING_ROUNDING: 'floor' }, 'BILLING_ROUNDING must be one of carry, per_record, not "floor"'],
    [{ JOIN_PORT: '-1' }, 'JOIN_PORT must be a whole number from 0 to 65535, not "-1"'],
    [{ JOIN_HOST: 'a b' }, 'JOIN_HOST must be an address or a host name, not "a b"'],
    ...[
      'example.com',
      'https://a.example/',
      'https://a.example/x',
      'https://A.example',
      'https://a.example:443',
      'ftp://a.example',
      'null',
      'https://*.example',
    ].map((origin): [Record<string, string>, string] => [
      { JOIN_ORIGINS: `https://b.example,${origin}` },
      `JOIN_ORIGINS must be a list of origins, such as https://example.com, or *, not "${origin}"`,
    ]),
    [
      { JOIN_ORIGINS: '*,https://a.example' },
      'JOIN_ORIGINS must be a list of origins, such as https://example.com, or *, not "*"',
    ],
    [{ JOIN_CREATES_ROOMS: '1' }, 'JOIN_CREATES_ROOMS must be one of true, false, not "1"'],
    [{ CHECKOUT_TAX: 'yes' }, 'CHECKOUT_TAX must be one of true, false, not "yes"'],
    [{ CHECKOUT_TAX_IDS: '1' }, 'CHECKOUT_TAX_IDS must be one of true, false, not "1"'],
    [{ CHECKOUT_INVOICES: 'True' }, 'CHECKOUT_INVOICES must be one of true, false, not "True"'],
    [{ CONFUSABLE_USERNAMES: 'yes' }, 'CONFUSABLE_USERNAMES must be one of allow, refuse, not "yes"'],
    ...[
      'hunter2',
      Buffer.alloc(31).toString('base64'),
      Buffer.alloc(33).toString('base64'),
      Buffer.alloc(32).toString('hex'),
      Buffer.alloc(32).toString('base64url'),
      `${Buffer.alloc(32).toString('base64')} `,
    ].map((key): [Record<string, string>, string] => [
      { SECRETS_KEY: key },
      'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints',
    ]),
    [
      { LOG_LEVEL: 'INFO' },
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "INFO"',
    ],
  ])('%j', (env, message) => {
    expect(refusal(env)).toBe(message);
  });

  test('a URL with a password is not repeated', () => {
    for (const name of ['PUBLIC_URL', 'STRIPE_API_BASE', 'DATABASE_URL', 'MIGRATIONS_DATABASE_URL']) {
      expect(refusal({ [name]: 'https://user:hunter2@example.com' }), name).not.toContain('hunter2');
    }
  });
});
