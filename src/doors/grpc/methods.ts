/**
 * What all methods have in common: authentication, the tenant, the order of checks, rendering of
 * failures, logs and metrics.
 *
 * A service is a table of `query()`, `command()` and `stream()`. A command runs once for each
 * idempotency key.
 */
import { once as nextEvent } from 'node:events';
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { Metadata, status } from '@grpc/grpc-js';
import { type AuthenticatedCaller, authenticateKey } from '../../access/keys/authenticate.ts';
import { rightsOf } from '../../access/rights/key-ceiling.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, invalidField, invalidRequest } from '../../base/failure.ts';
import { once } from '../../base/idempotency/once.ts';
import type { AddressRange } from '../../base/lib/address.ts';
import { newId } from '../../base/lib/ids.ts';
import { countLimitRefusal } from '../../base/tenants/limits.ts';
import { parseTenantId, type TenantId, type TenantStatus } from '../../base/tenants/tenant.ts';
import type { Deps } from '../deps.ts';
import { clientAddress } from './client-address.ts';
import { type GrpcStatus, statusOf, UnavailableError } from './errors.ts';
import { CALL_TIMEOUT_MS } from './limits.ts';

export interface Call {
  readonly deps: Deps;
  readonly caller: AuthenticatedCaller;
  readonly tenant: TenantId;
  readonly requestId: string;
  /** Aborted when the caller has disconnected, or the service stops. Made for the first one who asks. */
  readonly signal: AbortSignal;
}

/** An encoded response, or the response message. */
type Answer = Uint8Array | Message;

export interface Method {
  readonly desc: DescMethod;
  /** Time limit, if longer than the usual one. */
  readonly timeoutMs?: number;
  /**
   * The method waits for something to happen, and takes a place in the queue of calls for each read instead.
   */
  readonly waits?: boolean;
  /** The method shares its statements with other calls. */
  readonly isGathered?: boolean;
  /** States of the tenant in which the method is refused. Every method is refused to one that is deleted. */
  readonly closedTo?: readonly TenantStatus[];
  run(call: Call, request: Message, send: (answer: Answer) => Promise<void>): Promise<Answer | undefined>;
}

/** One handler for each method of the service. */
export type Methods<S extends DescService> = { readonly [Name in keyof S['method']]: Method };

type Unary = DescMethodUnary;
type Request<M extends DescMethod> = MessageShape<M['input']>;
type Response<M extends DescMethod> = MessageInitShape<M['output']>;

/** A method that changes nothing. */
export function query<M extends Unary>(
  desc: M,
  answer: (call: Call, request: Request<M>) => Promise<Response<M>>,
  options: Pick<Method, 'timeoutMs' | 'waits' | 'isGathered' | 'closedTo'> = {},
): Method {
  return {
    desc,
    ...options,
    run: async (call, request) => create(desc.output, await answer(call, request as Request<M>)) as Message,
  };
}

/**
 * A method that changes something: `parse` rejects malformed requests before any look-up,
 * `effect` runs in the transaction that also stores its answer.
 */
export function command<M extends Unary, Input>(
  desc: M,
  parse: (request: Request<M>) => Input,
  effect: (tx: Tx, call: Call, input: Input) => Promise<Response<M>>,
  options: Pick<Method, 'closedTo'> = {},
): Method {
  return {
    desc,
    ...options,
    run: async (call, request) => {
      const input = parse(request as Request<M>);
      const { idempotencyKey } = request as Message & { idempotencyKey: string };
      const withoutKey: unknown = { ...request, idempotencyKey: '' };
      const mutation = {
        tenant: call.tenant,
        key: parseIdempotencyKey(idempotencyKey),
        method: desc.name,
        ...rightsOf(call.caller),
        request: toBinary(desc.input, withoutKey as Request<M>),
      };
      const bytes = await once(call.deps, mutation, async (tx) => {
        const answer = await effect(tx, call, input);
        return toBinary(desc.output, create(desc.output, answer));
      });
      call.deps.events.wake(call.tenant);
      return bytes;
    },
  };
}

/** A method that sends responses until its caller disconnects. */
export function stream<M extends DescMethodServerStreaming>(
  desc: M,
  follow: (call: Call, request: Request<M>, send: (response: Response<M>) => Promise<void>) => Promise<void>,
): Method {
  return {
    desc,
    run: async (call, request, send) => {
      await follow(call, request as Request<M>, (response) => send(create(desc.output, response) as Message));
      return undefined;
    },
  };
}

function parseIdempotencyKey(text: string): string | undefined {
  if (text === '') return undefined;
  if (!/^[\x20-\x7e]{1,128}$/.test(text)) {
    throw invalidField('idempotency_key', 'must be 1 to 128 printable ASCII characters');
  }
  return text;
}

/** What the door itself provides to all its methods. */
export interface Door {
  readonly deps: Deps;
  /** Proxies whose `x-forwarded-for` is trusted. */
  readonly trusted: readonly AddressRange[];
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** Request ids of the calls that have not been answered yet. */
  readonly underWay: Set<string>;
}

/** Received in place of a request: bytes that could not be decoded. */
const MALFORMED = Symbol('malformed');

export function definitionOf(service: DescService): ServiceDefinition {
  const methods = service.methods.map((method) => [
    method.localName,
    {
      path: pathOf(method),
      requestStream: false,
      responseStream: method.methodKind === 'server_streaming',
      // Thrown here, it would become an internal error, and would come before authentication.
      requestDeserialize: (bytes: Buffer) => {
        try {
          return fromBinary(method.input, bytes);
        } catch {
          return MALFORMED;
        }
      },
      requestSerialize: (request: Message) => Buffer.from(toBinary(method.input, request)),
      responseSerialize: (answer: Answer) =>
        Buffer.from(answer instanceof Uint8Array ? answer : toBinary(method.output, answer)),
      responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
    },
  ]);
  return Object.fromEntries(methods);
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

export function implementationOf(
  door: Door,
  methods: Readonly<Record<string, Method>>,
): UntypedServiceImplementation {
  const handlers = Object.entries(methods).map(([name, method]) => [
    name,
    method.desc.methodKind === 'server_streaming' ? streamHandler(door, method) : unaryHandler(door, method),
  ]);
  return Object.fromEntries(handlers);
}

type Incoming = ServerUnaryCall<unknown, Answer> | ServerWritableStream<unknown, Answer>;

function unaryHandler(door: Door, method: Method): handleUnaryCall<unknown, Answer> {
  return (incoming, callback) => {
    const requestId = newId('req');
    // The head leaves with the answer. Sent earlier, it would be a packet of its own.
    const respond: typeof callback = (failed, answer) => {
      sendHead(incoming, requestId);
      callback(failed, answer);
    };
    void serve(door, method, incoming, requestId, async (call, request) => {
      const run = () => method.run(call, request, async () => {});
      const { calls, gatheredCalls } = door.deps;
      const running = method.waits
        ? run()
        : (method.isGathered ? gatheredCalls : calls).run(call.caller, run);
      const answer = await inTime(running, method.timeoutMs);
      respond(null, answer!);
    }).then((failed) => failed && respond(failed));
  };
}

function streamHandler(door: Door, method: Method): handleServerStreamingCall<unknown, Answer> {
  return (incoming) => {
    const requestId = newId('req');
    sendHead(incoming, requestId);
    void serve(door, method, incoming, requestId, async (call, request) => {
      const send = async (answer: Answer) => {
        if (incoming.write(answer)) return;
        await nextEvent(incoming, 'drain', { signal: call.signal }).catch(() => {});
      };
      await method.run(call, request, send);
      if (door.stopping.aborted) throw new UnavailableError('the service stops: resume elsewhere');
      incoming.end();
    }).then((failed) => failed && incoming.emit('error', failed));
  };
}

function sendHead(incoming: Incoming, requestId: string): void {
  const head = new Metadata();
  head.set('x-request-id', requestId);
  incoming.sendMetadata(head);
}

/** Run one call from its first check to its log line. Returns the failure, if any. */
async function serve(
  door: Door,
  method: Method,
  incoming: Incoming,
  requestId: string,
  work: (call: Call, request: Message) => Promise<void>,
): Promise<GrpcStatus | undefined> {
  const begun = performance.now();
  door.underWay.add(requestId);

  let keyId: string | undefined;
  let failed: GrpcStatus | undefined;
  try {
    const caller = await authenticateCaller(door, incoming);
    keyId = caller.keyId;
    const request = readRequest(incoming.request, caller, method);
    await work(callOf(door, incoming, requestId, caller), request);
  } catch (error) {
    failed = statusOf(error, requestId, incoming.request);
    countLimitRefusal(door.deps.metrics, error);
    const isOutage =
      failed.code === status.UNAVAILABLE && !(error instanceof Failure) && !door.stopping.aborted;
    if (failed.code === status.INTERNAL || isOutage) {
      door.deps.log.error({ err: error, requestId }, failed.details);
    }
  }
  door.underWay.delete(requestId);
  const code = status[incoming.cancelled ? status.CANCELLED : (failed?.code ?? status.OK)];
  observe(door.deps, { method: pathOf(method.desc), code, requestId, key: keyId, begun });
  return failed;
}

function callOf(door: Door, incoming: Incoming, requestId: string, caller: AuthenticatedCaller): Call {
  const { deps } = door;
  let signal: AbortSignal | undefined;
  return {
    deps,
    caller,
    tenant: caller.tenant,
    requestId,
    get signal() {
      signal ??= endOf(door, incoming);
      return signal;
    },
  };
}

function endOf({ stopping }: Door, incoming: Incoming): AbortSignal {
  const gone = new AbortController();
  if (incoming.cancelled) gone.abort();
  else incoming.once('cancelled', () => gone.abort());
  return AbortSignal.any([gone.signal, stopping]);
}

/** A relay key is valid, but this door refuses it. Source: specification 5.2 and 7.3. */
async function authenticateCaller(door: Door, incoming: Incoming): Promise<AuthenticatedCaller> {
  const credentials = incoming.metadata.get('authorization');
  if (credentials.length > 1) throw new Failure('invalid_api_key');
  const address = clientAddress(incoming, door.trusted);
  const caller = await authenticateKey(door.deps, credentials[0]?.toString(), address);
  if (caller.kind === 'relay') throw new Failure('relay_key');
  door.deps.keyRate.count(caller);
  return caller;
}

/** The bytes are not a message of the type that the method takes. */
export function unreadable(): Failure {
  return invalidRequest('the message is not of the type that the method takes');
}

/** Returns the request if it is about the caller's own tenant. */
function readRequest(request: unknown, caller: AuthenticatedCaller, { closedTo = [] }: Method): Message {
  if (request === MALFORMED) throw unreadable();
  const { tenant } = request as Message & { tenant: string };
  if (tenant === '') throw invalidField('tenant', 'is required');
  if (parseTenantId(tenant) !== caller.tenant) throw new Failure('other_tenant');
  if (['deleted', ...closedTo].includes(caller.tenantStatus)) throw new Failure('tenant_not_active');
  return request as Message;
}

async function inTime<T>(work: Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UnavailableError('not answered in time')), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Log and count a finished call. */
export function observe(
  deps: Deps,
  {
    method,
    code,
    requestId,
    key,
    begun,
  }: {
    method: string;
    code: string;
    requestId: string;
    key?: string | undefined;
    begun: number;
  },
): void {
  const ms = performance.now() - begun;
  deps.metrics.calls.inc({ method, code });
  deps.metrics.callDuration.observe({ method }, ms / 1000);
  deps.log.info({ method, code, requestId, key, ms: Math.round(ms * 10) / 10 }, 'call');
}
