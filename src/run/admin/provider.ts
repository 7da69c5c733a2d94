/** The payment provider that the settings name, for commands: Stripe, or the sandbox of a running service. */
import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Provider } from '../../money/payments/provider.ts';
import type { Config } from '../config.ts';
import { type SandboxSecrets, sandboxSecretsPath } from '../sandbox-secrets.ts';

/** Ends the command with exit code 2 if there is none. */
export async function requireProviderOf(config: Config, command: Command): Promise<Provider> {
  const sandbox = config.payments === 'sandbox' ? findSandbox(config) : undefined;
  const secretKey = config.stripeSecretKey ?? sandbox?.secretKey;
  if (!secretKey) {
    command.error('error: this needs a payment provider: set STRIPE_SECRET_KEY, or start the sandbox once');
  }
  const { openProvider } = await import('../../money/payments/provider.ts');
  return openProvider({ secretKey, webhookSecrets: [], apiBase: sandbox?.apiBase ?? config.stripeApiBase });
}

/** The sandbox runs inside the service, and keeps its key in DATA_DIR. */
function findSandbox(config: Config): { secretKey: string; apiBase: string } | undefined {
  const path = sandboxSecretsPath(config.dataDir);
  if (!existsSync(path)) return undefined;
  const { secretKey }: SandboxSecrets = JSON.parse(readFileSync(path, 'utf8'));
  return { secretKey, apiBase: `http://127.0.0.1:${config.sandboxPort}` };
}
