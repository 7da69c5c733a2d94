/** The sandbox as this deployment's payment provider: for trying the service, never for production. */

import { SETTLE_SECONDS } from '../../sandbox/actions/pay-intent.ts';
import type { Mailbox, MailSummary } from '../../sandbox/mailbox.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { openPool, type Pool } from '../base/db/pool.ts';
import { SecretBox } from '../base/lib/secret-box.ts';
import { listMailbox, type MailboxEntry, readMailbox } from '../outward/mail/read-mailbox.ts';
import type { Config } from './config.ts';
import { keepSandboxSecrets, sandboxFolder } from './sandbox-secrets.ts';

/** The settings with which the service uses it in place of Stripe. */
export interface SandboxPayments {
  readonly sandbox: Sandbox;
  readonly settings: Pick<Config, 'stripeSecretKey' | 'stripeWebhookSecrets' | 'stripeApiBase'>;
  close(): Promise<void>;
}

/** Provider events are delivered to `servicePort`. Customers, cards and payments survive a restart. */
export async function startSandboxPayments(
  config: Pick<Config, 'dataDir' | 'sandboxPort' | 'host'>,
  servicePort: number,
  mails: MailboxOptions,
): Promise<SandboxPayments> {
  const { secretKey, webhookSecret } = keepSandboxSecrets(config.dataDir);
  const mailbox = openMailbox(mails);

  const sandbox = await startSandbox({
    port: config.sandboxPort,
    secretKey,
    stateDir: sandboxFolder(config.dataDir),
    webhooks: [{ url: `${addressOf(config.host, servicePort)}/v1/stripe/webhook`, secret: webhookSecret }],
    merchantName: 'Boxoffice',
    settleAfterMs: SETTLE_SECONDS * 1000,
    mailbox,
  });
  return {
    sandbox,
    settings: {
      stripeSecretKey: secretKey,
      stripeWebhookSecrets: [webhookSecret],
      stripeApiBase: sandbox.url,
    },
    close: async () => {
      await sandbox.close();
      await mailbox.close();
    },
  };
}

/** The address at which local programs reach the service. */
function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

export interface MailboxOptions {
  readonly databaseUrl: string;
  readonly secretsKey: Buffer;
  readonly secretsKeyFallback?: Buffer | undefined;
  readonly publicUrl: string;
  readonly supportEmail?: string | undefined;
}

/** Reads the mails through a connection of its own, which opens with the first look. */
export function openMailbox({
  databaseUrl,
  secretsKey,
  secretsKeyFallback,
  publicUrl,
  supportEmail,
}: MailboxOptions): Mailbox & {
  close(): Promise<void>;
} {
  let pool: Pool | undefined;
  const open = () => {
    pool ??= openPool(databaseUrl, { max: 1, applicationName: 'boxoffice mailbox' });
    return pool;
  };
  const box = new SecretBox(secretsKey, secretsKeyFallback);
  return {
    list: async () => (await listMailbox(open())).map(summaryOf),
    find: async (id) => {
      const mail = await readMailbox({ db: open(), box, config: { publicUrl, supportEmail } }, id);
      return mail && { ...summaryOf(mail), text: mail.text, html: mail.html };
    },
    close: async () => pool?.end(),
  };
}

function summaryOf({ id, address, subject, state, createdAt, error }: MailboxEntry): MailSummary {
  return { id, to: address, subject, state, created: Math.floor(createdAt.getTime() / 1000), error };
}
