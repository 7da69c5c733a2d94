/** A sandbox, the official client for it, and a server that receives its webhooks. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/server.ts';

export const SECRET_KEY = 'sk_test_for_tests';
export const WEBHOOK_SECRET = 'whsec_for_tests';

export interface Received {
  readonly event: Stripe.Event;
  readonly body: string;
  readonly signature: string;
}

/** Collects the events that it receives. One with a wrong signature is answered with 400 and not collected. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  types(): string[];
  /** Answer the next requests with these statuses, then with 200 again. */
  answerWith(...statuses: number[]): void;
  close(): Promise<void>;
}

export async function startReceiver(secret = WEBHOOK_SECRET): Promise<Receiver> {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const status = statuses.shift() ?? 200;
    if (status !== 200) return response.writeHead(status).end();
    const signature = String(request.headers['stripe-signature']);
    try {
      received.push({ event: Stripe.webhooks.constructEvent(body, signature, secret), body, signature });
      response.writeHead(200).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  const url = await listening(server);
  return {
    url,
    received,
    types: () => received.map(({ event }) => event.type),
    answerWith: (...next) => statuses.push(...next),
    close: () => closed(server),
  };
}

export function clientOf(sandbox: Sandbox, config: Stripe.StripeConfig = {}): Stripe {
  return new Stripe(SECRET_KEY, {
    host: '127.0.0.1',
    port: sandbox.port,
    protocol: 'http',
    apiVersion: '2026-10-28.endive',
    telemetry: false,
    maxNetworkRetries: 0,
    ...config,
  });
}

export function start(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return startSandbox({
    port: 0,
    secretKey: SECRET_KEY,
    webhooks: [],
    retryDelaysMs: [1, 1, 1],
    ...options,
  });
}

/** A checkout session of $50 that saves the card. */
export function checkoutParams(customer?: string): Stripe.Checkout.SessionCreateParams {
  return {
    mode: 'payment',
    success_url: 'http://shop.example/done?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'http://shop.example/cancel',
    line_items: [
      { price_data: { currency: 'usd', unit_amount: 5000, product_data: { name: 'Credit' } }, quantity: 1 },
    ],
    payment_intent_data: { setup_future_usage: 'off_session', metadata: { order: '7' } },
    metadata: { order: '7' },
    client_reference_id: 'order-7',
    ...(customer === undefined ? { customer_creation: 'always' } : { customer }),
  };
}

/** Charge a saved card while its owner is away. */
export function chargeSaved(
  customer: string,
  paymentMethod: string,
  amount = 2000,
): Stripe.PaymentIntentCreateParams {
  return {
    amount,
    currency: 'usd',
    customer,
    payment_method: paymentMethod,
    off_session: true,
    confirm: true,
    error_on_requires_action: true,
    metadata: { order: '8' },
  };
}

/** The error that a call ends with. */
export async function failureOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}

/** Post a form as a browser would, without following the redirect. */
export function postForm(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });
}

export function postJson(url: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
