/** Who takes payments, and with which keys. */
import { ConfigError, type Env } from './config-error.ts';
import { readChoice, readList } from './read-values.ts';

export type PaymentsMode = 'stripe' | 'sandbox' | 'none';

interface PaymentsConfig {
  readonly payments: PaymentsMode;
  readonly stripeSecretKey: string | undefined;
}

export function readPayments(env: Env, production: boolean): PaymentsMode {
  const fallback = env.STRIPE_SECRET_KEY ? 'stripe' : production ? 'none' : 'sandbox';
  const payments = readChoice(env, 'PAYMENTS', ['stripe', 'sandbox', 'none'], fallback);
  if (payments === 'sandbox' && production) {
    throw new ConfigError('PAYMENTS must be stripe or none when NODE_ENV is production, not "sandbox"');
  }
  return payments;
}

export function readStripeKey(env: Env, payments: PaymentsMode): string | undefined {
  if (payments !== 'stripe') return undefined;
  if (!env.STRIPE_SECRET_KEY) throw new ConfigError('STRIPE_SECRET_KEY must be set when PAYMENTS is stripe');
  return env.STRIPE_SECRET_KEY;
}

/** Whether payments go to Stripe's test mode, in which no money moves. */
export function isTestMode({ payments, stripeSecretKey }: PaymentsConfig): boolean {
  return payments === 'stripe' && /^[rs]k_test_/.test(stripeSecretKey ?? '');
}

export function readWebhookSecrets(env: Env, payments: PaymentsMode): readonly string[] {
  if (payments !== 'stripe') return [];
  const secrets = readList(env, 'STRIPE_WEBHOOK_SECRET');
  if (secrets.length === 0) {
    throw new ConfigError(
      'STRIPE_WEBHOOK_SECRET must be set when PAYMENTS is stripe: credit comes by webhook',
    );
  }
  return secrets;
}
