/**
 * The steps of an API request: key, route, parameters, idempotency, fault, work, answer.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ActiveFault, Faults } from '../faults.ts';
import {
  ApiError,
  internalError,
  invalidRequest,
  rateLimited,
  renderError,
  unauthorized,
} from '../http/errors.ts';
import { type FormObject, parseForm } from '../http/form.ts';
import { header, json, type Reply, readBody, send } from '../http/request.ts';
import { type Match, matchRoute } from '../http/router.ts';
import { API_VERSION } from '../objects/event.ts';
import { type Provider, perform } from '../provider.ts';
import type { Handler } from './call.ts';
import { expandAll, readExpand } from './expand.ts';
import { checkKey, findReply, fingerprintOf, keyInUse, storeReply } from './idempotency.ts';
import { apiRoutes } from './routes.ts';

export interface Api {
  readonly provider: Provider;
  readonly faults: Faults;
  readonly secretKey: string;
  /** The idempotency keys of the requests in progress. */
  readonly keysInUse: Set<string>;
}

/** A stored 500 would only be replayed, so it tells clients not to retry, as Stripe does. */
const KEPT_500 = json(500, renderError(internalError()), { 'stripe-should-retry': 'false' });

interface Request {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly form: FormObject;
  readonly match: Match<Handler>;
  readonly key: string | undefined;
}

/** Answer a request whose path begins with `/v1/`. */
export async function handleApi(
  api: Api,
  message: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const id = api.provider.ids.request();
  const version = header(message, 'stripe-version') ?? API_VERSION;
  let fault: ActiveFault | undefined;
  let reply: Reply;
  try {
    authenticate(api, message);
    const request = await readRequest(message, url, id);
    fault = api.faults.takeApi(request.method, request.path);
    refuseByFault(fault);
    reply = await answer(api, request, fault);
  } catch (error) {
    reply = errorReply(api.provider, error);
  }
  const key = header(message, 'idempotency-key');
  const headers = {
    'request-id': id,
    'stripe-version': version,
    ...(key === undefined ? {} : { 'idempotency-key': encodeURI(key).slice(0, 300) }),
  };
  deliver(api, response, { ...reply, headers: { ...reply.headers, ...headers } }, fault);
}

function authenticate(api: Api, message: IncomingMessage): void {
  const [scheme, credentials = ''] = (header(message, 'authorization') ?? '').split(' ');
  if (scheme === '') throw unauthorized('You did not provide an API key. Send it as a Bearer token.');
  const basic = () => Buffer.from(credentials, 'base64').toString('utf8').split(':')[0] ?? '';
  const given = Buffer.from(scheme === 'Basic' ? basic() : credentials);
  const wanted = Buffer.from(api.secretKey);
  // The message does not repeat the key: it may be a real one that was sent here by mistake.
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw unauthorized('Invalid API Key provided.');
  }
}

async function readRequest(message: IncomingMessage, url: URL, id: string): Promise<Request> {
  const method = message.method ?? 'GET';
  const match = matchRoute(apiRoutes, method, url.pathname);
  if (match === undefined) {
    const text = `Unrecognized request URL (${method}: ${url.pathname.slice(0, 200)}).`;
    throw new ApiError(404, 'invalid_request_error', text, {}, 'validation');
  }
  const body = await readBody(message);
  if (body !== '' && !header(message, 'content-type')?.startsWith('application/x-www-form-urlencoded')) {
    throw invalidRequest('Send parameters as application/x-www-form-urlencoded.');
  }
  const form = parseForm([url.search.slice(1), body].filter((part) => part !== '').join('&'));
  const key = method === 'POST' ? header(message, 'idempotency-key') : undefined;
  if (key !== undefined) checkKey(key);
  return { id, path: url.pathname, method, form, match, key };
}

function refuseByFault(fault: ActiveFault | undefined): void {
  if (fault?.effect === 'rate_limit_429') throw rateLimited();
  if (fault?.effect === 'fail_500') throw internalError();
}

async function answer(api: Api, request: Request, fault: ActiveFault | undefined): Promise<Reply> {
  const { key } = request;
  if (key === undefined) return work(api, request, fault, undefined);

  const fingerprint = fingerprintOf(request.method, request.path, request.form);
  const replay = findReply(api.provider, key, fingerprint);
  if (replay !== undefined) return replay;
  if (api.keysInUse.has(key)) throw keyInUse();
  api.keysInUse.add(key);
  try {
    return await work(api, request, fault, { key, fingerprint });
  } finally {
    api.keysInUse.delete(key);
  }
}

async function work(
  api: Api,
  request: Request,
  fault: ActiveFault | undefined,
  store: { key: string; fingerprint: string } | undefined,
): Promise<Reply> {
  if (fault?.effect === 'slow') await delay(fault.ms);
  const { provider } = api;
  const cause = { requestId: request.id, idempotencyKey: store?.key ?? null };
  const { result, delivered } = perform(provider, cause, () => {
    const { reply, keep } =
      fault?.effect === 'keep_500' ? { reply: KEPT_500, keep: true } : run(provider, request);
    const outcome = fault?.effect === 'commit_then_500' ? KEPT_500 : reply;
    if (store !== undefined && keep) storeReply(provider, store.key, store.fingerprint, outcome);
    return outcome;
  });
  if (fault?.effect === 'webhook_first') await delivered;
  return result;
}

/**
 * Call the handler. An `ApiError` of the handler is an answer too, and its writes
 * are kept. An invalid `expand` rolls the work back.
 */
function run(provider: Provider, { form, match }: Request): { reply: Reply; keep: boolean } {
  const { expand, ...rest } = form;
  const paths = readExpand(expand);
  let result: object;
  try {
    result = match.handle({ provider, id: match.names.id ?? '', form: rest });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { reply: errorReply(provider, error), keep: error.stage === 'execution' };
  }
  return { reply: json(200, expandAll(provider, result, paths)), keep: true };
}

function errorReply(provider: Provider, error: unknown): Reply {
  if (error instanceof ApiError) {
    return json(error.status, renderError(error));
  }
  provider.log(`unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
  return json(500, renderError(internalError()));
}

/** Send the answer, unless a fault spoils it. */
function deliver(api: Api, response: ServerResponse, reply: Reply, fault: ActiveFault | undefined): void {
  switch (fault?.effect) {
    case 'commit_then_timeout':
      api.provider.timers.after(fault.ms, () => response.destroy());
      return;
    case 'commit_then_reset':
      response.socket?.resetAndDestroy();
      return;
    case 'truncate_body':
      response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) });
      response.write(reply.body.slice(0, Math.floor(reply.body.length / 2)), () => response.destroy());
      return;
    default:
      send(response, reply);
  }
}
