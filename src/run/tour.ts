/** What is printed when the service has started: in a few lines, where to go first, and its addresses. */
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
  // The demo pays on the sandbox's pages.
  const demo = sandbox && 'See it all at work: npm run demo, in another terminal. ';

  return `
Boxoffice is running. Open ${service} in a browser: the console. Sign up there, pay, and look at everything.

  Five minutes  ${service}/docs/readme#five-minutes: a first charge, step by step${sandbox ? ', run from the page' : ''}
  REST API      ${service}        documents: ${service}/docs
  gRPC          ${grpc}        ${config.tls ? 'TLS' : 'plain HTTP/2'}, with reflection and health checks
  Joining       ${join ?? service}/join
  Operations    ${ops}        /healthz /readyz /metrics, and the console of operators: ${ops}/console
  Payments      ${payments}
  Database      ${database}

${demo ?? ''}Stop with Ctrl-C.
`;
}
