/** A client of a tenant: it does one operation after another, and each is written down. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import type { Outcome, Reply } from '../journal.ts';
import type { Args, Operation } from '../operations.ts';
import type { Stage } from '../stage/stage.ts';
import type { GrpcClient, GrpcReply } from './grpc.ts';
import { type HttpReply, type HttpRequest, send } from './http.ts';
import { digestOf, secretsIn } from './secrets.ts';
import type { Secret, Tenant } from './tenant.ts';
import { withToken } from './tokens.ts';

const RETRY_MS = 150;
/** A repetition that gets no answer for so long is given up: its outcome stays unknown. */
const TRIES_MAX = 200;
/** A client that acts at the same time as another one has the number of that one, and this added. */
export const TWINS = 10_000;
/** How many idempotency keys are set aside for a client that continues another one. */
const KEYS_EACH = 100;

export interface Shared {
  readonly stage: Stage;
  readonly grpc: readonly GrpcClient[];
  /** Those of the campaign, and those that signed up meanwhile. */
  readonly tenants: Tenant[];
  /** `records`: new ones that were acknowledged. */
  readonly counts: { records: number; answers: number };
  /** What clients did not expect, a line each. */
  readonly surprises: string[];
  /** Nothing is repeated any more: the database is gone for good. */
  readonly givesUp: AbortSignal;
}

/** The arguments of an operation, without those that every request of a client has. */
type Own<O extends Operation> = Omit<Args<O>, 'tenant' | 'key' | 'service' | 'idempotency'>;

/** Returns the part of a body that is written down. */
type Keep = (json: HttpReply['json']) => Record<string, unknown>;

export class Client {
  readonly number: number;
  readonly tenant: Tenant;
  readonly shared: Shared;
  #mutations = 0;
  #addresses = 0;

  constructor(number: number, tenant: Tenant, shared: Shared) {
    this.number = number;
    this.tenant = tenant;
    this.shared = shared;
  }

  get stage(): Stage {
    return this.shared.stage;
  }

  /** Use no idempotency key and no address that another client of this number has used. */
  continues(other: Client): void {
    this.#mutations = other.#mutations;
    this.#addresses = other.#addresses;
    other.#mutations += KEYS_EACH;
  }

  /** Among the clients of its tenant. Ids have it, so that tenants use the same ones. */
  get place(): number {
    return this.number - this.tenant.firstNumber;
  }

  /** Never used before by this client. */
  newIdempotencyKey(): string {
    return `c${this.place}-${this.#mutations++}`;
  }

  /** Another address for each request with a key that may be wrong: those of one address are limited. */
  newAddress(): string {
    const count = this.#addresses++;
    return `10.${this.number % 256}.${(count >> 8) % 256}.${count % 256}`;
  }

  /** One request with a key of the tenant. */
  async rest<O extends Operation>(
    op: O,
    own: Own<O>,
    {
      key,
      service,
      ...request
    }: Omit<HttpRequest, 'key'> & { readonly key: Secret; readonly service: number },
    keep: Keep = () => ({}),
  ): Promise<HttpReply> {
    const args = {
      tenant: this.tenant.id,
      key: key.id,
      service,
      ...(request.idempotency !== undefined && { idempotency: request.idempotency }),
      ...own,
    } as unknown as Args<O>;
    return this.record(op, args, async () => {
      const reply = await send(this.stage.service(service).url, { ...request, key: key.plaintext });
      return withAnswer(reply, keep);
    });
  }

  /** A view, with the key of the tenant. */
  read<O extends Operation>(
    op: O,
    own: Own<O>,
    service: number,
    path: string,
    keep: Keep = (json) => json,
  ): Promise<HttpReply> {
    return this.rest(op, own, { method: 'GET', path, key: this.tenant.key, service }, keep);
  }

  /** A change with the key of the tenant, repeated until its outcome is known. It takes effect once. */
  change<O extends Operation>(
    op: O,
    own: Own<O>,
    service: number,
    request: Pick<HttpRequest, 'method' | 'path' | 'body'>,
    keep?: Keep,
  ): Promise<HttpReply> {
    const idempotency = this.newIdempotencyKey();
    return this.insist(service, (at) =>
      this.rest(op, own, { ...request, key: this.tenant.key, service: at, idempotency }, keep),
    );
  }

  async call<O extends Operation, M extends DescMethodUnary>(
    op: O,
    own: Own<O>,
    method: M,
    request: MessageInitShape<M['input']>,
    service: number,
    key: Secret = this.tenant.key,
  ): Promise<GrpcReply<M>> {
    const { idempotencyKey } = request as { readonly idempotencyKey?: string };
    const args = {
      tenant: this.tenant.id,
      key: key.id,
      service,
      ...(idempotencyKey !== undefined && { idempotency: idempotencyKey }),
      ...own,
    } as unknown as Args<O>;
    const message = { tenant: this.tenant.id, ...(request as object) } as unknown as MessageInitShape<
      M['input']
    >;
    return this.record(op, args, async () => {
      const reply = await this.shared.grpc[service]!.call(method, key.plaintext, message);
      const { token } = (reply.message ?? {}) as { readonly token?: string };
      return token === undefined ? reply : withToken(reply, token, this.stage);
    });
  }

  async record<O extends Operation, R extends Reply>(
    op: O,
    args: Args<O>,
    call: () => Promise<R>,
  ): Promise<R> {
    const { journal } = this.stage;
    const reply = await journal.record(this.number, op, args, call);
    if (reply.status !== undefined) this.shared.counts.answers += 1;
    const tenant = op === 'signup' ? String(reply.answer?.tenant) : this.tenant.id;
    for (const { what, parts } of secretsIn(reply))
      journal.note('secret.got', { tenant, what, digests: parts.map(digestOf) });
    return reply;
  }

  /** Repeat until there is an answer, at the services in turns. Also after the end of the load, so that outcomes are known. */
  async insist<R extends { readonly outcome: Outcome }>(
    service: number,
    attempt: (service: number) => Promise<R>,
  ): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      const reply = await attempt((service + tries - 1) % this.stage.places.length);
      if (reply.outcome !== 'unknown' || tries === TRIES_MAX || this.shared.givesUp.aborted) return reply;
      await sleep(RETRY_MS);
    }
  }
}

/** What is kept of errors is their text. */
export function withAnswer(reply: HttpReply, keep: Keep): HttpReply {
  if (reply.outcome === 'ok') return { ...reply, answer: keep(reply.json) };
  const error = reply.json?.error;
  return error === undefined ? reply : { ...reply, answer: { error } };
}
