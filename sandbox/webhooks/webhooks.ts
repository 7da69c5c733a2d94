/**
 * Sends events to webhook endpoints: in the background, at least once, in no guaranteed order,
 * with growing delays until the endpoint answers 2xx, and again after a restart.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Faults } from '../faults.ts';
import type { Ids } from '../ids.ts';
import type { Attempt, Delivery } from '../objects/delivery.ts';
import { API_VERSION, type Event, renderEvent } from '../objects/event.ts';
import { type WebhookEndpoint, wantsEvent } from '../objects/webhook-endpoint.ts';
import type { State } from '../state/state.ts';
import { signatureHeader } from './signature.ts';

export interface WebhooksOptions {
  readonly state: State;
  readonly ids: Ids;
  readonly clock: () => Date;
  readonly faults: Faults;
  readonly log: (line: string) => void;
  /** The endpoints given at start. The API may add others. */
  readonly endpoints: readonly WebhookEndpoint[];
  /** Milliseconds before the second, third, ... attempt. After the last one a delivery has failed. */
  readonly retryDelaysMs: readonly number[];
  /** Milliseconds that an endpoint may take to answer. */
  readonly timeoutMs: number;
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #closing = new AbortController();
  /** Deliveries that are in progress or wait for their next attempt. */
  readonly #running = new Map<string, Promise<void>>();
  #fresh: string[] = [];
  #idleWaiters: Array<() => void> = [];

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  endpoints(): WebhookEndpoint[] {
    return [...this.#options.endpoints, ...this.#options.state.all('webhookEndpoints')];
  }

  /** Queue an event for every endpoint that subscribes to it. Must be called inside a transaction. */
  enqueue(event: Event): void {
    const fault = this.#options.faults.takeWebhook(event.type);
    const copies = fault?.effect === 'repeat' ? fault.times : 1;
    for (const endpoint of this.endpoints()) {
      if (!wantsEvent(endpoint, event.type)) continue;
      for (let copy = 0; copy < copies; copy += 1) {
        this.#put({
          id: this.#options.ids.next('whd_'),
          event: event.id,
          type: event.type,
          endpoint: endpoint.id,
          url: endpoint.url,
          status: fault?.effect === 'drop' ? 'dropped' : fault?.effect === 'reorder' ? 'held' : 'pending',
          attempts: [],
          delayMs: fault?.effect === 'delay' ? fault.ms : 0,
          corrupt: fault?.effect === 'corrupt_signature',
        });
      }
    }
  }

  /** Start the deliveries that the last transaction queued. Resolves when each has been tried once. */
  async deliverFresh(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = [];
    await Promise.all(fresh.map((id) => this.#start(id)));
  }

  /** Drop the deliveries that a failed transaction queued. */
  discardFresh(): void {
    this.#fresh = [];
  }

  /** Resume the deliveries that an earlier process left unfinished. */
  resume(): void {
    for (const { id, status } of this.#options.state.all('deliveries')) {
      if (status === 'pending') void this.#start(id);
    }
  }

  /** Send one delivery again, in any state. */
  async redeliver(id: string): Promise<Delivery> {
    this.#options.state.change('deliveries', id, { status: 'pending', delayMs: 0, corrupt: false });
    await this.#start(id);
    return this.#get(id);
  }

  /** Send the held deliveries one after the other. Resolves to them in the order they went out. */
  async release(order: 'created' | 'reversed'): Promise<Delivery[]> {
    const held = this.#options.state.all('deliveries').filter(({ status }) => status === 'held');
    if (order === 'reversed') held.reverse();
    for (const { id } of held) {
      this.#options.state.change('deliveries', id, { status: 'pending' });
      await this.#start(id);
    }
    return held.map(({ id }) => this.#get(id));
  }

  /** How many endpoints have not accepted an event yet. */
  pendingCount(event: string): number {
    const running = [...this.#running.keys()].map((id) => this.#options.state.get('deliveries', id));
    return running.filter((delivery) => delivery?.event === event).length;
  }

  /** Resolves when no delivery is in progress or waits for a retry. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Stop at once. Pending deliveries are sent after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  #put(delivery: Delivery): void {
    this.#options.state.put('deliveries', delivery);
    if (delivery.status === 'pending') this.#fresh.push(delivery.id);
  }

  #get(id: string): Delivery {
    const delivery = this.#options.state.get('deliveries', id);
    if (delivery === undefined) throw new Error(`no delivery ${id}`);
    return delivery;
  }

  /** Resolves after the first attempt. Later ones continue in the background. */
  #start(id: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running.has(id)) return resolve();
      const run = this.#run(id, resolve)
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted)
            this.#options.log(`webhook delivery ${id} broke: ${String(error)}`);
        })
        .finally(() => {
          this.#running.delete(id);
          resolve();
          if (this.#running.size === 0) for (const waiter of this.#idleWaiters.splice(0)) waiter();
        });
      this.#running.set(id, run);
    });
  }

  async #run(id: string, afterFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#closing;
    const { delayMs } = this.#get(id);
    if (delayMs > 0) await delay(delayMs, undefined, { signal });
    for (const wait of [...this.#options.retryDelaysMs, null]) {
      const attempt = await this.#attempt(this.#get(id));
      if (signal.aborted) return;
      const accepted = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
      this.#record(id, attempt, accepted ? 'delivered' : wait === null ? 'failed' : 'pending');
      afterFirstAttempt();
      if (accepted || wait === null) return;
      await delay(wait, undefined, { signal });
    }
  }

  #record(id: string, attempt: Attempt, status: Delivery['status']): void {
    const { attempts, type, url } = this.#get(id);
    this.#options.state.change('deliveries', id, {
      attempts: [...attempts, attempt],
      status,
      corrupt: false,
    });
    if (status !== 'delivered') {
      this.#options.log(`webhook ${type} to ${url}: ${attempt.status ?? attempt.error}, now ${status}`);
    }
  }

  async #attempt(delivery: Delivery): Promise<Attempt> {
    const at = Math.floor(this.#options.clock().getTime() / 1000);
    const endpoint = this.endpoints().find(({ id }) => id === delivery.endpoint);
    const event = this.#options.state.get('events', delivery.event);
    if (endpoint === undefined || event === undefined) {
      return { at, status: null, error: 'the endpoint or the event no longer exists' };
    }
    const body = JSON.stringify(
      renderEvent(event, this.pendingCount(event.id), endpoint.apiVersion ?? API_VERSION),
      null,
      2,
    );
    const signed = delivery.corrupt ? `${body} ` : body;
    try {
      const response = await fetch(endpoint.url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'stripe-signature': signatureHeader(signed, endpoint.secret, at),
          'user-agent': 'Stripe/1.0 (sandbox)',
        },
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#options.timeoutMs)]),
      });
      await response.body?.cancel();
      return { at, status: response.status, error: null };
    } catch (error) {
      return { at, status: null, error: reasonOf(error) };
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}
