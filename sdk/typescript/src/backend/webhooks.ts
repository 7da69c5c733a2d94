/** Webhooks, their deliveries, and the events that they get. */
import { type CallOptions, type MutationOptions, sleep, untilClosed, waitAfter } from './calls.ts';
import type { Listing } from './listing.ts';
import { type AnswerOf, type BodyOf, isTransient, type PageRequest, type Rest, toQuery } from './rest.ts';
import type { DeadLetter, Webhook, WebhookDelivery, WebhookEventType } from './rest-types.ts';
import type { TypedEvent } from './webhook-event.ts';

/** A webhook, and its secret, which no other answer has. */
export type CreatedWebhook = AnswerOf<'POST /v1/webhooks'>;

/** A webhook, its new secret, and until when the old ones sign too. */
export type RotatedWebhook = AnswerOf<'POST /v1/webhooks/{id}/rotate'>;

/** Where events go, and which. */
export type NewWebhook = BodyOf<'POST /v1/webhooks'>;

/** Which webhook to change, and what. */
export interface WebhookChanges extends BodyOf<'PATCH /v1/webhooks/{id}'> {
  /** The id of the webhook. */
  readonly id: string;
}

/** Which secret to replace. */
export interface SecretRotation extends BodyOf<'POST /v1/webhooks/{id}/rotate'> {
  /** The id of the webhook. */
  readonly id: string;
}

/** Which attempts to list, and how many at once. */
export interface ListDeliveriesRequest extends PageRequest {
  /** Only those that ended so; default: all. */
  readonly outcome?: 'delivered' | 'failed' | undefined;
}

/** What was given up and is sent again. */
export interface ResentEvents {
  /** The webhook, with how many events are put aside now. */
  readonly webhook: Webhook;
  /** How many events that were given up are sent again. */
  readonly resent: number;
  /** Others stay given up, because no more events may be put aside. Ask again later. */
  readonly more: boolean;
}

/** From where to follow events, and which. */
export interface FollowEventsRequest {
  /** The number of an event: only later ones. Default: from the oldest event that is kept. */
  readonly after?: bigint | undefined;
  /** Only these types; none: all. */
  readonly types?: readonly WebhookEventType[] | undefined;
}

/** Which events to pull. */
export interface PullEventsRequest extends FollowEventsRequest {
  /** How many at once: 1 to 1000; 0 is 100. */
  readonly limit?: number | undefined;
  /** How long to wait if there is no event: 0 to 20. */
  readonly waitSeconds?: number | undefined;
}

/** Events in order, and where they end. */
export type PulledEvents = Omit<AnswerOf<'GET /v1/events'>, 'events'> & {
  /** The events, in order. */
  events: TypedEvent<WebhookEventType>[];
};

/** The longest wait for events that the service allows. */
const WAIT_SECONDS_MAX = 20;
/** For the answer, in addition to the wait. */
const ANSWER_MS = 15_000;
/** The service waits 10 seconds for the receiver. */
const SEND_LIMITS = { timeoutMs: 60_000, attemptTimeoutMs: 20_000 };

/** Endpoints that get the events of the tenant: `boxoffice.webhooks`. */
export class Webhooks {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Create a webhook: it gets what happens from then on. Only this answer contains `secret`; for 24 hours, a call
   * with the same idempotency key gets it again.
   */
  async create(body: NewWebhook, options?: MutationOptions): Promise<CreatedWebhook> {
    return await this.#rest.call('POST /v1/webhooks', { body }, options);
  }

  /** All webhooks, oldest first. */
  async list(options?: CallOptions): Promise<Webhook[]> {
    return (await this.#rest.call('GET /v1/webhooks', {}, options)).webhooks;
  }

  /** Read a webhook: its settings, and how far its deliveries are. */
  async get(id: string, options?: CallOptions): Promise<Webhook> {
    return await this.#rest.call('GET /v1/webhooks/{id}', { path: { id } }, options);
  }

  /** Change, pause or resume a webhook. What is left out keeps its value. */
  async change({ id, ...body }: WebhookChanges, options?: MutationOptions): Promise<Webhook> {
    return await this.#rest.call('PATCH /v1/webhooks/{id}', { path: { id }, body }, options);
  }

  /** Delete a webhook. A request that is under way may still arrive. */
  async delete(id: string, options?: MutationOptions): Promise<void> {
    await this.#rest.call('DELETE /v1/webhooks/{id}', { path: { id } }, options);
  }

  /** Replace the secret. The old ones sign too for `overlapSeconds`, by default a day. */
  async rotateSecret({ id, ...body }: SecretRotation, options?: MutationOptions): Promise<RotatedWebhook> {
    return await this.#rest.call('POST /v1/webhooks/{id}/rotate', { path: { id }, body }, options);
  }

  /** Send the event `webhook_test` now, once. The answer says what became of it. */
  async test(id: string, options?: MutationOptions): Promise<WebhookDelivery> {
    const limits = { ...SEND_LIMITS, ...options };
    return (await this.#rest.call('POST /v1/webhooks/{id}/test', { path: { id } }, limits)).delivery;
  }

  /** Attempts to send events to a webhook, newest first, for as long as the deployment keeps them: 7 days or more. */
  deliveries(
    id: string,
    request: ListDeliveriesRequest = {},
    options?: CallOptions,
  ): Listing<WebhookDelivery> {
    const name = 'GET /v1/webhooks/{id}/deliveries';
    return this.#rest.list(name, (page) => page.deliveries, { ...request }, options, { id });
  }

  /** Send one event again now, once. The answer says what became of it. */
  async resend(id: string, seq: bigint, options?: MutationOptions): Promise<WebhookDelivery> {
    const limits = { ...SEND_LIMITS, ...options };
    const given = { path: { id }, body: { seq } };
    return (await this.#rest.call('POST /v1/webhooks/{id}/resend', given, limits)).delivery!;
  }

  /** Send all wanted events since a time again, in order. The webhook never goes forward. */
  async resendSince(id: string, since: Date, options?: MutationOptions): Promise<Webhook> {
    const given = { path: { id }, body: toQuery({ since }) };
    return (await this.#rest.call('POST /v1/webhooks/{id}/resend', given, options)).webhook!;
  }

  /**
   * Send again what was given up since a time, put aside; what is put aside and has failed is tried at once. The webhook
   * does not go back.
   */
  async resendFailed(id: string, since: Date, options?: MutationOptions): Promise<ResentEvents> {
    const { since: at } = toQuery({ since });
    const given = { path: { id }, body: { since: at!, onlyFailed: true } };
    const { webhook, resent, more } = await this.#rest.call('POST /v1/webhooks/{id}/resend', given, options);
    return { webhook: webhook!, resent: resent!, more: more! };
  }

  /** Events that were given up and not sent again since, newest first. */
  deadLetters(id: string, request: PageRequest = {}, options?: CallOptions): Listing<DeadLetter> {
    const name = 'GET /v1/webhooks/{id}/dead-letters';
    return this.#rest.list(name, (page) => page.deadLetters, { ...request }, options, { id });
  }

  /**
   * Ask for the events that webhooks get. Give `after` of the answer to read on. Fails with `Invalid` if events after
   * `after` are gone, which happens after 7 days or as many as the deployment keeps them, or if the log has not reached it.
   */
  async pullEvents(request: PullEventsRequest = {}, options: CallOptions = {}): Promise<PulledEvents> {
    const { limit, waitSeconds, ...others } = request;
    const query = toQuery({ ...others, limit: limit || undefined, waitSeconds: waitSeconds || undefined });
    const attemptTimeoutMs = (waitSeconds ?? 0) * 1000 + ANSWER_MS;
    const patient = waitSeconds ? { timeoutMs: 2 * attemptTimeoutMs, attemptTimeoutMs } : {};
    const answer = await this.#rest.call('GET /v1/events', { query }, { ...patient, ...options });
    return answer as PulledEvents;
  }

  /**
   * Follow the events that webhooks get until the signal aborts, across lost connections and restarts of the service.
   * After a crash, begin with the `seq` of the last event that you handled. Fails as `pullEvents` does.
   */
  async *followEvents(
    { after, types }: FollowEventsRequest = {},
    { signal: given }: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<TypedEvent<WebhookEventType>, never, undefined> {
    const signal = untilClosed(given, this.#rest.limits);
    let place = after;
    let failures = 0;
    for (;;) {
      let page: PulledEvents;
      try {
        const request = { after: place, types, waitSeconds: WAIT_SECONDS_MAX };
        page = await this.pullEvents(request, { signal });
      } catch (error) {
        signal?.throwIfAborted();
        if (!isTransient(error)) throw error;
        await sleep(waitAfter(failures, error), signal);
        failures += 1;
        continue;
      }
      failures = 0;
      yield* page.events;
      place = page.after;
    }
  }
}
