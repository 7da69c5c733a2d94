/** The sandbox as this deployment's payment provider: for trying the service, never for production. */
import { randomBytes } from 'node:crypto';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { keepFile } from '../base/lib/keep-file.ts';
import type { Config } from './config.ts';
import { type SandboxSecrets, sandboxSecretsPath, sandboxStateDir } from './sandbox-secrets.ts';

/** The settings with which the service uses it in place of Stripe. */
export interface SandboxPayments {
  readonly sandbox: Sandbox;
  readonly settings: Pick<Config, 'stripeSecretKey' | 'stripeWebhookSecrets' | 'stripeApiBase'>;
}

/** Provider events are delivered to `servicePort`. Customers, cards and payments survive a restart. */
export async function startSandboxPayments(
  config: Pick<Config, 'dataDir' | 'sandboxPort' | 'host'>,
  servicePort: number,
): Promise<SandboxPayments> {
  const stateDir = sandboxStateDir(config.dataDir);
  const { secretKey, webhookSecret } = keepSecrets(sandboxSecretsPath(config.dataDir));

  const sandbox = await startSandbox({
    port: config.sandboxPort,
    secretKey,
    stateDir,
    webhooks: [{ url: `${addressOf(config.host, servicePort)}/v1/stripe/webhook`, secret: webhookSecret }],
    merchantName: 'Boxoffice',
    settleAfterMs: 10_000,
  });
  return {
    sandbox,
    settings: {
      stripeSecretKey: secretKey,
      stripeWebhookSecrets: [webhookSecret],
      stripeApiBase: sandbox.url,
    },
  };
}

/** The address at which local programs reach the service. */
function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Created once, then kept: earlier payments must be reachable after a restart. */
function keepSecrets(path: string): SandboxSecrets {
  const make = (): SandboxSecrets => ({
    secretKey: `sk_test_${randomBytes(24).toString('base64url')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('base64url')}`,
  });
  return JSON.parse(keepFile(path, () => JSON.stringify(make())));
}
