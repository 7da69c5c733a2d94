/**
 * Starts the sandbox: a payment provider that speaks a part of Stripe's API, with hosted
 * pages, signed webhooks and faults on request. See README.md.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expireDue, settleLater } from './actions/checkout.ts';
import { type Api, handleApi } from './api/api.ts';
import { KEPT_SECONDS } from './api/idempotency.ts';
import { Control } from './control/control.ts';
import { handleControl } from './control/control-api.ts';
import { isCrossSite, isLoopback, isOwnHost } from './control/origin.ts';
import { Faults } from './faults.ts';
import { internalError, renderError } from './http/errors.ts';
import { json, type Reply, send } from './http/request.ts';
import { Ids } from './ids.ts';
import type { Mailbox } from './mailbox.ts';
import { type EndpointOption, endpointFromOption } from './objects/webhook-endpoint.ts';
import { handlePage } from './pages/pages.ts';
import { now, type Provider } from './provider.ts';
import { State } from './state/state.ts';
import { Timers } from './timers.ts';
import { Webhooks } from './webhooks/webhooks.ts';

export interface SandboxOptions {
  /** Default 127.0.0.1. Other than on a loopback address there is no control API and no dashboard. */
  readonly host?: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** The key of clients. It starts with `sk_test_`. */
  readonly secretKey: string;
  /** Where browsers reach the hosted pages. Default: the address that the sandbox listens on. */
  readonly publicUrl?: string;
  /** The folder for the state. Default: the state is lost when the process ends. */
  readonly stateDir?: string;
  readonly webhooks: readonly EndpointOption[];
  readonly clock?: () => Date;
  /** The same seed gives the same identifiers. */
  readonly seed?: string;
  readonly log?: (line: string) => void;
  /** Milliseconds before the second, third, ... attempt of a delivery. */
  readonly retryDelaysMs?: readonly number[];
  /** Milliseconds that a webhook endpoint may take to answer. Default 10,000. */
  readonly webhookTimeoutMs?: number;
  /** Milliseconds until a bank debit settles. Default: only the control API settles it. */
  readonly settleAfterMs?: number;
  /** Shown on the hosted pages. */
  readonly merchantName?: string;
  /** The merchant's mails, shown at `/mailbox`. Default: there is no such page. */
  readonly mailbox?: Mailbox;
}

export interface Sandbox {
  readonly url: string;
  readonly port: number;
  readonly control: Control;
  /** Stop listening and delivering. Resolves when everything has stopped. */
  close(): Promise<void>;
}

const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000];
const EXPIRY_CHECK_MS = 1_000;

/** How long events and their finished deliveries are kept. */
const EVENTS_KEPT_SECONDS = 30 * 24 * 3600;

/** Start a sandbox. Rejects with the error of `listen` if the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  refuseMisuse(options);
  const host = options.host ?? '127.0.0.1';
  const server = createServer();
  // The port serves as the lock: the state of a running sandbox must not be touched.
  const port = await listen(server, host, options.port);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    return run(options, server, { host, port, url });
  } catch (error) {
    server.close();
    throw error;
  }
}

function run(
  options: SandboxOptions,
  server: Server,
  { host, port, url }: { host: string; port: number; url: string },
): Sandbox {
  const faults = new Faults();
  const provider = createProvider(options, url, faults);
  const control = new Control(provider, faults);
  const api: Api = { provider, faults, secretKey: options.secretKey, keysInUse: new Set() };
  const own = isLoopback(host);

  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => response.destroy());
    dispatch({ api, control, own, mailbox: options.mailbox }, message, response).catch((error: unknown) => {
      provider.log(`unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
      if (response.headersSent) response.destroy();
      else send(response, json(500, renderError(internalError())));
    });
  });
  prune(provider);
  provider.webhooks.resume();
  for (const intent of provider.state.all('paymentIntents')) settleLater(provider, intent);
  provider.timers.every(EXPIRY_CHECK_MS, () => expireDue(provider));
  return { url, port, control, close: () => close(server, provider) };
}

function createProvider(options: SandboxOptions, url: string, faults: Faults): Provider {
  const { clock = () => new Date(), log = () => undefined } = options;
  const state = new State(options.stateDir);
  const ids = new Ids(state, options.seed);
  const created = Math.floor(clock().getTime() / 1000);
  const webhooks = new Webhooks({
    state,
    ids,
    clock,
    faults,
    log,
    endpoints: options.webhooks.map((endpoint) => endpointFromOption(endpoint, created)),
    retryDelaysMs: options.retryDelaysMs ?? RETRY_DELAYS_MS,
    timeoutMs: options.webhookTimeoutMs ?? 10_000,
  });
  return {
    state,
    ids,
    clock,
    webhooks,
    log,
    timers: new Timers(),
    publicUrl: (options.publicUrl ?? url).replace(/\/+$/, ''),
    merchantName: options.merchantName ?? 'Sandbox Shop',
    settleAfterMs: options.settleAfterMs,
    cause: null,
  };
}

interface Doors {
  readonly api: Api;
  readonly control: Control;
  /** Whether control API and dashboard are open. */
  readonly own: boolean;
  readonly mailbox: Mailbox | undefined;
}

async function dispatch(
  { api, control, own, mailbox }: Doors,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { provider } = api;
  const url = URL.parse(message.url ?? '/', 'http://sandbox.invalid');
  if (url === null) return send(response, { status: 400, headers: {}, body: '' });
  expireDue(provider);
  if (url.pathname.startsWith('/v1/')) return handleApi(api, message, response, url);

  const trusted = own && isOwnHost(message, provider.publicUrl);
  if (!url.pathname.startsWith('/_sandbox/')) {
    return send(response, await handlePage({ provider, control, mailbox, dashboard: trusted }, message, url));
  }
  if (!trusted || isCrossSite(message, provider.publicUrl)) return send(response, controlClosed());
  return send(response, await handleControl(control, message, url));
}

function controlClosed(): Reply {
  const message = 'The control API answers only on a loopback address, and no page of another site.';
  return json(403, { error: { type: 'invalid_request_error', message } });
}

/** Delete what Stripe would have deleted too, so that a folder that is used for months stays small. */
function prune(provider: Provider): void {
  const { state } = provider;
  const time = now(provider);
  state.transaction(() => {
    for (const { id, created } of state.all('storedReplies')) {
      if (created + KEPT_SECONDS <= time) state.delete('storedReplies', id);
    }
    const old = new Set(
      state.all('events').flatMap(({ id, created }) => (created + EVENTS_KEPT_SECONDS <= time ? [id] : [])),
    );
    for (const { id, event } of state.all('deliveries')) if (old.has(event)) state.delete('deliveries', id);
    for (const id of old) state.delete('events', id);
  });
}

async function close(server: Server, provider: Provider): Promise<void> {
  provider.timers.stop();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await provider.webhooks.close();
  await closed;
  provider.state.close();
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function refuseMisuse({ secretKey, publicUrl }: SandboxOptions): void {
  if (process.env.NODE_ENV === 'production') {
    throw new Error(
      'The sandbox payment provider takes no real money and refuses to run with NODE_ENV=production.',
    );
  }
  if (!secretKey.startsWith('sk_test_')) {
    throw new Error('The secret key of the sandbox must begin with sk_test_; never give it a live key.');
  }
  if (publicUrl !== undefined && !/^https?:$/.test(URL.parse(publicUrl)?.protocol ?? '')) {
    throw new Error('The public URL of the sandbox must be an http or https address.');
  }
}
