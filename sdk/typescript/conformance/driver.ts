/**
 * The driver of the conformance suite for TypeScript: it reads operations from standard input and prints
 * what this SDK makes of them. sdk/conformance/README.md has the protocol.
 */
import { createInterface } from 'node:readline';
import { Boxoffice, BoxofficeError, signUp } from '../src/backend/index.ts';
import { UsageError } from '../src/relay/index.ts';
import { CALLS, LISTS, WATCHES } from './methods.ts';
import { fromSuite, toSuite } from './names.ts';
import { reportUsage, tellFeed } from './relay.ts';
import { decideRevocations, decideStatements, decideTokens, decideWebhooks } from './vectors.ts';

interface Operation {
  readonly id: number;
  readonly op: string;
  readonly client: string;
  readonly method: string;
  readonly target: number;
  readonly file: string;
  readonly jwks_url?: string;
  readonly request?: object;
  // biome-ignore lint/suspicious/noExplicitAny: options of every operation
  readonly options?: any;
}

interface Opened {
  readonly url: string;
  /** `undefined`: a client without a key, which can sign up. */
  readonly boxoffice: Boxoffice | undefined;
}

/** The reason of an operation that the suite cancels. */
class Cancelled extends Error {}

const clients = new Map<string, Opened>();
const running = new Map<number, AbortController>();
/** By operation, what continues it with its next page. */
const waiting = new Map<number, () => void>();

function print(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

const WORK: Readonly<Record<string, (operation: Operation, signal: AbortSignal) => Promise<unknown>>> = {
  open: async ({ client, options }) => void clients.set(client, open(options)),
  close: async ({ client }) => {
    clients.get(client)?.boxoffice?.close();
    clients.delete(client);
  },
  call: async ({ client, method, request = {}, options = {} }, signal) => {
    const { timeout_ms: timeoutMs, idempotency_key: idempotencyKey } = options;
    const { url, boxoffice } = clients.get(client)!;
    if (method === 'sign_up') return await signUp(fromSuite(request) as never, { url, signal, timeoutMs });
    const limits = { ...(timeoutMs !== undefined && { timeoutMs }), idempotencyKey };
    return await CALLS[method]!(boxoffice!, fromSuite(request), { signal, ...limits });
  },
  pages: async ({ id, client, method, request = {} }, signal) => {
    const { boxoffice } = clients.get(client)!;
    for await (const { items } of LISTS[method]!(boxoffice!, fromSuite(request), { signal }).pages()) {
      print({ id, page: toSuite(items) });
      await nextPage(id, signal);
    }
  },
  watch: async ({ id, client, method, request = {}, options = {} }, signal) => {
    const { boxoffice } = clients.get(client)!;
    const limits = options.silent_ms === undefined ? {} : { silentMsMax: options.silent_ms };
    for await (const event of WATCHES[method]!(boxoffice!, fromSuite(request), { signal, ...limits })) {
      print({ id, event: toSuite(event) });
    }
  },
  report: ({ request }) => reportUsage(request),
  follow: async ({ id, request }, signal) => await tellFeed(request, signal, (event) => print({ id, event })),
  vectors: ({ file, jwks_url }) => decideTokens(file, jwks_url),
  revocation_vectors: ({ file }) => decideRevocations(file),
  webhook_vectors: ({ file }) => decideWebhooks(file),
  statement_vectors: ({ file }) => decideStatements(file),
  tasks: async () => {
    const resources = process.getActiveResourcesInfo();
    return { count: resources.length, resources };
  },
};

function open(options: Operation['options']): Opened {
  const { url, control_url: controlUrl, api_key: apiKey, tenant } = options;
  const { timeout_ms: timeoutMs, attempt_timeout_ms: attemptTimeoutMs, retries } = options;
  if (apiKey === '') return { url, boxoffice: undefined };
  const limits = { timeoutMs, attemptTimeoutMs, retries };
  return { url, boxoffice: new Boxoffice({ url, controlUrl, apiKey, tenant, ...limits }) };
}

function nextPage(id: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    waiting.set(id, resolve);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

async function run(operation: Operation): Promise<void> {
  const { id, op } = operation;
  const aborting = new AbortController();
  running.set(id, aborting);
  try {
    const answer = await WORK[op]!(operation, aborting.signal);
    // The result of a check is told as it is. Only names of the SDK are translated.
    const isResult = /(^|_)vectors$/.test(op);
    print({ id, ok: (isResult ? answer : toSuite(answer)) ?? {} });
  } catch (error) {
    print({ id, error: describe(error) });
  } finally {
    running.delete(id);
    waiting.delete(id);
  }
}

function describe(error: unknown): object {
  if (error instanceof Cancelled) return { kind: 'Cancelled' };
  if (error instanceof BoxofficeError) {
    const { kind, code, reason, message, metadata, retryAfterMs } = error;
    return {
      kind,
      code,
      reason,
      fields: error.fields.map(({ field }) => field),
      metadata,
      ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
      has_request_id: error.requestId !== undefined,
      message,
    };
  }
  if (error instanceof UsageError) return { kind: 'Usage', code: error.code, message: error.message };
  // This SDK throws a TypeError for what the contract does not allow.
  if (error instanceof TypeError) return { kind: 'Invalid', code: '', message: error.message };
  return { kind: 'Crash', message: String(error) };
}

for await (const line of createInterface(process.stdin)) {
  const operation: Operation = JSON.parse(line);
  if (operation.op === 'cancel') running.get(operation.target)?.abort(new Cancelled());
  else if (operation.op === 'next') waiting.get(operation.target)?.();
  else void run(operation);
}
for (const aborting of running.values()) aborting.abort(new Cancelled());
for (const { boxoffice } of clients.values()) boxoffice?.close();
process.exit(0);
