/** The payment provider that a command asks: Stripe, or the sandbox of a running service. */
import type { Command } from 'commander';
import { openProvider, type Provider } from '../../money/payments/provider.ts';
import type { Config } from '../config.ts';
import { readSandboxSecrets } from '../sandbox-secrets.ts';

const UNKNOWN =
  'the payment provider is unknown: set STRIPE_SECRET_KEY, or the DATA_DIR of a service with the sandbox';

type ProviderConfig = Pick<
  Config,
  'payments' | 'stripeSecretKey' | 'stripeApiBase' | 'dataDir' | 'sandboxPort'
>;

/** Ends the command if no provider is configured. */
export async function requireProviderOf(config: ProviderConfig, command: Command): Promise<Provider> {
  const found = findProvider(config);
  if (!found) {
    command.error(`error: ${UNKNOWN}`);
  }
  return openProvider({ ...found, webhookSecrets: [] });
}

function findProvider(
  config: ProviderConfig,
): { secretKey: string; apiBase: string | undefined } | undefined {
  if (config.stripeSecretKey) return { secretKey: config.stripeSecretKey, apiBase: config.stripeApiBase };
  const secrets = config.payments === 'sandbox' ? readSandboxSecrets(config.dataDir) : undefined;
  // The sandbox listens on the loopback address.
  return secrets && { secretKey: secrets.secretKey, apiBase: `http://127.0.0.1:${config.sandboxPort}` };
}
