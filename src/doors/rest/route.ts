/**
 * Routes as rows of a table. A row says who may call, in which states of the tenant, what is taken and answered, where calls
 * wait, and what a change leaves in the audit trail; the compiler asks for each of these. The description in OpenAPI
 * follows from the row.
 */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyKind } from '../../access/keys/api-key.ts';
import { type AuthenticatedCaller, authenticate, authenticateAgain } from '../../access/keys/authenticate.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { type Mutation, once } from '../../base/idempotency/once.ts';
import type { Static, TSchema } from '../../base/lib/schema.ts';
import type { TenantStatus } from '../../base/tenants/tenant.ts';
import type { Deps } from '../deps.ts';
import { answers, type ErrorStatus } from '../http/answers.ts';
import { authorizationOf, type Http } from '../http/http.ts';
import { isWhole } from '../http/late-body.ts';
import { queueOfRoute, type RouteQueue } from '../queue-of-route.ts';
import { IdempotencySchema, mutationOf } from './idempotency.ts';
import { innerCallOf } from './inner-call.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: AuthenticatedCaller | undefined;
    /** Its body had not arrived when its key was looked up. */
    isLate: boolean;
    /** It is checked, and has no effect. */
    isTrial: boolean;
  }
}

/** The states of a tenant in which a route is refused. Source: specification 3.1 and 7.1. */
const CLOSED_TO = {
  none: [],
  deleted: ['deleted'],
  archived: ['archived', 'deleted'],
  suspended: ['suspended', 'archived', 'deleted'],
} as const satisfies Record<string, readonly TenantStatus[]>;

export const JSON_TYPE = 'application/json; charset=utf-8';

interface Taken<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

export interface Call<P, Q, B, Input> extends Taken<P, Q, B> {
  readonly deps: Deps;
  readonly caller: AuthenticatedCaller;
  /** What `parse` of the row has returned. */
  readonly input: Input;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
}

/** The schema of a success, by its status. */
type Answers = Readonly<Record<number, TSchema>>;
type AnswerOf<A extends Answers> = Static<A[keyof A & number]>;

interface OpenRow<Q extends TSchema, B extends TSchema, A extends Answers> {
  readonly path: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  readonly tag: string;
  /** `operationId` of the description: the name of the method in the SDKs. */
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  /** Besides those that follow from the rest of the row. */
  readonly errors?: readonly ErrorStatus[];
  /** `Cache-Control` of a success. All other answers are `no-store`. */
  readonly cacheControl?: string;
}

interface Row<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers, Input>
  extends OpenRow<Q, B, A> {
  /** The kind of key that may call. */
  readonly key: KeyKind;
  /** The first state of the tenant, in the order suspended, archived, deleted, from which on it gets 403. */
  readonly closedTo: keyof typeof CLOSED_TO;
  readonly queue: RouteQueue;
  readonly params?: P;
  /** The body may be left out: then it is `{}`. */
  readonly isBodyOptional?: true;
  /** Refuses what is wrong in the request, before the state of the tenant. */
  readonly parse?: (taken: Taken<Static<P>, Static<Q>, Static<B>>, caller: AuthenticatedCaller) => Input;
  /** Time for the answer, if longer than usual. */
  readonly answerSeconds?: number;
  readonly readBody?: FastifyContextConfig['readBody'];
}

interface ChangeRow<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers, Input>
  extends Row<P, Q, B, A, Input> {
  /** The actions that it may leave in the audit trail. */
  readonly audit: readonly string[];
}

type AnyRow = OpenRow<TSchema, TSchema, Answers> &
  Partial<ChangeRow<TSchema, TSchema, TSchema, Answers, unknown>>;

export interface Route {
  readonly row: AnyRow;
  readonly takesIdempotencyKey: boolean;
  run(call: Call<never, never, never, never>): Promise<unknown>;
}

/** A route that reads, or whose body has ids of its own. `answer` returns what to send, or the reply that it has sent. */
export function plain<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers, Input>(
  row: Row<P, Q, B, A, Input>,
  answer: (call: Call<Static<P>, Static<Q>, Static<B>, Input>) => Promise<AnswerOf<A> | FastifyReply>,
): Route {
  return { row: row as AnyRow, takesIdempotencyKey: false, run: (call) => answer(call) };
}

/** Everyone may call it, without a key. */
export function open<Q extends TSchema, B extends TSchema, A extends Answers>(
  row: OpenRow<Q, B, A>,
  answer: (call: Omit<Call<never, Static<Q>, Static<B>, never>, 'caller'>) => Promise<AnswerOf<A>>,
): Route {
  return { row, takesIdempotencyKey: false, run: (call) => answer(call) };
}

/** A write: `effect` runs in the transaction that also stores its answer, once for each `Idempotency-Key`. */
export function change<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers, Input>(
  row: ChangeRow<P, Q, B, A, Input>,
  effect: (tx: Tx, call: Call<Static<P>, Static<Q>, Static<B>, Input>) => Promise<AnswerOf<A>>,
): Route {
  return {
    row: row as AnyRow,
    takesIdempotencyKey: true,
    run: (call: Call<Static<P>, Static<Q>, Static<B>, Input>) =>
      write(call, mutationOf(call.request, call.caller), (tx) => effect(tx, call)),
  };
}

/** Run `effect` in a transaction and answer with what it returns; a request that is repeated gets the first answer. */
export async function write(
  { deps, reply }: Pick<Call<unknown, unknown, unknown, unknown>, 'deps' | 'reply'>,
  mutation: Mutation,
  effect: (tx: Tx) => Promise<unknown>,
): Promise<FastifyReply> {
  const answer = await once(deps, mutation, async (tx) => {
    const body = await effect(tx);
    return Buffer.from(body === null ? '' : String(reply.serialize(body)));
  });
  deps.events.wake(mutation.tenant);
  if (answer.length === 0) return reply.send(null);
  return reply.type(JSON_TYPE).send(Buffer.from(answer).toString());
}

/** A write that waits for another service, which no transaction may do: it keeps its own answer for the `Idempotency-Key`. */
export function callOut<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers, Input>(
  row: ChangeRow<P, Q, B, A, Input>,
  answer: (
    call: Call<Static<P>, Static<Q>, Static<B>, Input>,
    mutation: Mutation,
  ) => Promise<AnswerOf<A> | FastifyReply>,
): Route {
  return {
    row: row as AnyRow,
    takesIdempotencyKey: true,
    run: (call: Call<Static<P>, Static<Q>, Static<B>, Input>) =>
      answer(call, mutationOf(call.request, call.caller)),
  };
}

export function addRoutes(app: Http, deps: Deps, routes: readonly Route[]): void {
  app.decorateRequest('caller', undefined);
  app.decorateRequest('isLate', false);
  app.decorateRequest('isTrial', false);
  const stop = new AbortController();
  app.addHook('preClose', async () => stop.abort());
  const { signal: closing } = stop;
  for (const { row, takesIdempotencyKey, run } of routes) {
    const [method, url] = row.path.split(' ') as [string, string];
    const queue = queueOfRoute(deps, row.queue);
    const status = Number(Object.keys(row.answer)[0]);
    app.route({
      method,
      url,
      schema: describe(row, takesIdempotencyKey),
      config: configOf(row, method),
      ...(row.key && { onRequest: requireKey(deps, row.key), preValidation: requireKeyStill(deps, row.key) }),
      handler: async (request, reply) => {
        const { caller, params, query, body } = request;
        reply.code(status);
        // What is still arriving holds no place.
        const answer = () => {
          const taken = { params, query, body } as Taken<never, never, never>;
          const input = row.parse?.(taken, caller!) as never;
          if (caller) refuseStatus(caller, CLOSED_TO[row.closedTo!]);
          if (request.isTrial) return Promise.resolve(reply.code(204).send(null));
          return run({ ...taken, deps, caller: caller!, input, request, reply, closing });
        };
        return caller ? queue.run(caller, answer) : answer();
      },
    });
  }
}

/** Runs before the body is read: an unknown caller gets 401 and no other information. */
function requireKey(deps: Deps, kind: KeyKind) {
  return async (request: FastifyRequest) => {
    const inner = innerCallOf(request);
    if (inner) {
      if (request.routeOptions.url !== inner.url) throw new Failure('not_found');
      request.raw.complete = true;
      request.caller = inner.caller;
      request.isTrial = inner.isTrial;
      request.keyId = inner.caller.keyId;
      return;
    }
    request.caller = await authenticate(deps, authorizationOf(request), kind, request.ip);
    request.isLate = !isWhole(request);
    request.keyId = request.caller.keyId;
    deps.keyRate.count(request.caller);
  };
}

/** Runs once the body is read. A body that arrived late may have taken minutes: its key may be revoked, or its tenant suspended. */
function requireKeyStill(deps: Deps, kind: KeyKind) {
  return async (request: FastifyRequest) => {
    if (!request.isLate) return;
    request.caller = await authenticateAgain(deps, authorizationOf(request), kind, request.ip);
  };
}

function refuseStatus({ tenantStatus }: AuthenticatedCaller, refused: readonly TenantStatus[]): void {
  if (refused.includes(tenantStatus)) throw new Failure('tenant_not_active');
}

function describe(row: AnyRow, takesIdempotencyKey: boolean) {
  const errors: ErrorStatus[] = [...(row.errors ?? [])];
  if (row.key) errors.push(401);
  if (row.key && row.closedTo !== 'none') errors.push(403);
  if (row.body) errors.push(408);
  if (takesIdempotencyKey) errors.push(422);
  return {
    tags: [row.tag],
    operationId: row.operation,
    summary: row.summary,
    description: row.description,
    security: row.key ? [{ [`${row.key}_key`]: [] }] : [],
    ...(takesIdempotencyKey && { headers: IdempotencySchema }),
    ...(row.params && { params: row.params }),
    ...(row.query && { querystring: row.query }),
    ...(row.body && { body: row.body }),
    response: answers(row.answer, ...errors),
  };
}

/** A write without a schema of its body takes none. */
function configOf({ body, isBodyOptional, answerSeconds, readBody, cacheControl }: AnyRow, method: string) {
  return {
    ...(method !== 'GET' && !body && { emptyBody: true }),
    ...(isBodyOptional && { optionalBody: true }),
    ...(answerSeconds !== undefined && { answerSeconds }),
    ...(readBody && { readBody }),
    ...(cacheControl !== undefined && { cacheControl }),
  };
}
