/** What is printed when the service has started: its addresses, and a few commands to paste. */
import type { Config } from './config.ts';
import { isTestMode } from './read-payments.ts';

export interface Addresses {
  readonly service: string;
  /** Host and port. */
  readonly grpc: string;
  readonly ops: string;
  /** `undefined`: joins use the service's own address. */
  readonly join: string | undefined;
  readonly sandbox: string | undefined;
}

/** The demo pays on the sandbox's pages. */
const DEMO = `
  # Or watch the whole story at once, in another terminal:
  npm run demo            # npm run demo:video: with live video, on a page
`;

export function renderTour(config: Config, addresses: Addresses): string {
  const { service, grpc, ops, join, sandbox } = addresses;
  const database = config.databaseUrl
    ? 'the PostgreSQL of DATABASE_URL'
    : `an embedded PostgreSQL in ${config.dataDir} (set DATABASE_URL to use your own)`;
  const payments = {
    sandbox: `sandbox, no real money: ${sandbox}`,
    stripe: isTestMode(config) ? 'Stripe, in test mode: no real money' : 'Stripe',
    none: 'not configured',
  }[config.payments];

  return `
Boxoffice is running.

  Open ${service} in a browser: the console. Sign up there, pay, and look at everything.

  REST API    ${service}        documents: ${service}/docs
  gRPC        ${grpc}        ${config.tls ? 'TLS' : 'plain HTTP/2'}, with reflection and health checks
  Joining     ${join ?? service}/join
  Operations  ${ops}        /healthz /readyz /metrics, and the console of operators: ${ops}/console
  Payments    ${payments}
  Database    ${database}

Try it:

  # 1. Sign up. The answer holds an API key, shown once, and the address of a payment page.
  curl -s ${service}/v1/signup -H 'content-type: application/json' \\
       -d '{"email":"you@example.com","name":"My first tenant"}'

  # 2. Open checkout_url in a browser and pay${sandbox ? ' with a test card' : ''}. Then look at the balance:
  KEY=svc_...
  curl -s ${service}/v1/billing -H "authorization: Bearer $KEY"
${sandbox ? DEMO : ''}
Stop with Ctrl-C.
`;
}
