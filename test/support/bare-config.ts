/** A minimal service: free ports, no payments, no proxies, otherwise defaults. */
import { NO_DETAILS } from '../../src/money/statements/billing-details.ts';
import type { MailConfig } from '../../src/outward/mail/mailer.ts';
import { budgetConnections } from '../../src/run/connection-budget.ts';
import type { ServiceConfig } from '../../src/run/service.ts';

export function bareConfig(databaseUrl: string): ServiceConfig {
  return {
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    grpcPort: 0,
    tls: undefined,
    databaseUrl,
    databaseDirectUrl: undefined,
    migrationsDatabaseUrl: undefined,
    databaseWaitSeconds: 0,
    connectionBudget: budgetConnections(1, undefined),
    publicUrl: 'http://service.test',
    issuerDetails: NO_DETAILS,
    opsUrl: 'http://ops.test',
    opsHosts: [],
    // Tests read rows, and move them in time.
    archiveAfterSeconds: undefined,
    archiveFilterMb: 64,
    strictTransportSeconds: 31_536_000,
    supportEmail: 'help@service.test',
    stripeSecretKey: undefined,
    stripeWebhookSecrets: [],
    stripeApiBase: undefined,
    keyPrefix: 'svc',
    ratesFile: undefined,
    trustProxy: [],
    clientConnectionsMax: 10_000,
    clientConnectionsPerAddressMax: 1_000,
    signupCheckoutCents: 2000,
    checkoutOptions: { tax: false, taxIds: false, invoices: false },
    signupsPerHour: 1_000_000,
    checkoutsPerSecond: 1_000,
    billingRounding: 'carry',
    joinAddress: undefined,
    joinOrigins: [],
    joinCreatesRooms: true,
    confusableUsernames: 'allow',
    mail: undefined,
    oidc: undefined,
    webhookNetworks: ['127.0.0.0/8', '::1'],
    webhookEgress: [],
    webhookClientTls: undefined,
    eventDays: 7,
    mailDays: 30,
    auditAddressDays: 400,
    mcp: false,
    production: false,
    secretsKey: Buffer.alloc(32),
    secretsKeyFallback: undefined,
  };
}

/** Sends mails to a server of the tests. */
export function smtpConfig(port: number): MailConfig {
  const server = { host: '127.0.0.1', port, secure: false, auth: undefined };
  return { server, from: { name: 'Boxoffice', address: 'billing@example.com' } };
}
