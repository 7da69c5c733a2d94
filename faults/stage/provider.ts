/** The payment provider of a campaign: the sandbox, in the process of the campaign, so that its book outlives every fault. */
import { randomBytes } from 'node:crypto';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import type { Journal } from '../journal.ts';

const KEY = 'sk_test_faults';
const PAGE = 100;
/** Deliveries that fail come again soon: a campaign has no days. */
const RETRY_DELAYS_MS = [300, 700, 1_500, 3_000, 5_000, 8_000, 8_000, 8_000, 15_000, 15_000, 30_000, 30_000];

interface Row {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly payment_intent?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly customer?: string | null;
  readonly balance_transactions?: readonly { readonly amount: number }[];
}

export interface Book {
  readonly payments: readonly Row[];
  readonly refunds: readonly Row[];
  readonly disputes: readonly Row[];
}

/** Cents that a dispute has taken, as a negative number, with what it gave back. */
export function movedBy({ balance_transactions = [] }: Row): number {
  return balance_transactions.reduce((sum, { amount }) => sum + amount, 0);
}

export class PaymentProvider {
  readonly secretKey = KEY;
  readonly webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;
  #sandbox: Sandbox | undefined;

  /** `receivers`: the addresses of the services, each of which gets every event. */
  async open(receivers: readonly string[]): Promise<void> {
    this.#sandbox = await startSandbox({
      port: 0,
      secretKey: KEY,
      webhooks: receivers.map((url) => ({ url: `${url}/v1/stripe/webhook`, secret: this.webhookSecret })),
      retryDelaysMs: RETRY_DELAYS_MS,
      webhookTimeoutMs: 5_000,
    });
  }

  get port(): number {
    return this.#sandbox!.port;
  }

  /** What buyers, cardholders and banks do, and faults that it is told to make. */
  get control() {
    return this.#sandbox!.control;
  }

  /** What it took, gave back and lost to disputes. */
  async readBook(): Promise<Book> {
    const payments = (await this.#list('payment_intents')).filter(({ status }) => status === 'succeeded');
    const [refunds, disputes] = [await this.#list('refunds'), await this.#list('disputes')];
    return { payments, refunds, disputes };
  }

  async writeBook(journal: Journal): Promise<void> {
    const { payments, refunds, disputes } = await this.readBook();
    for (const { id, amount, metadata = {}, customer = null } of payments)
      journal.note('provider.charged', { payment: id, amount, metadata, customer });
    for (const { id, amount, payment_intent, status } of refunds)
      journal.note('provider.refunded', { payment: payment_intent!, refund: id, amount, status });
    for (const dispute of disputes) {
      const { id, amount, payment_intent, status } = dispute;
      const moved = movedBy(dispute);
      journal.note('provider.disputed', { payment: payment_intent!, dispute: id, amount, status, moved });
    }
  }

  async #list(resource: string): Promise<Row[]> {
    const all: Row[] = [];
    for (;;) {
      const after = all.at(-1) ? `&starting_after=${all.at(-1)!.id}` : '';
      const answer = await fetch(`${this.#sandbox!.url}/v1/${resource}?limit=${PAGE}${after}`, {
        headers: { authorization: `Bearer ${KEY}` },
      });
      if (!answer.ok) throw new Error(`${resource} of the provider: ${answer.status} ${await answer.text()}`);
      const { data, has_more } = (await answer.json()) as { data: Row[]; has_more: boolean };
      all.push(...data);
      if (!has_more) return all;
    }
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
  }
}
