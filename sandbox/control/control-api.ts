/** The control API: JSON over HTTP, under `/_sandbox/`. Its routes are listed in the README. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { PAYOUT_STATUSES } from '../actions/create-payout.ts';
import { REFUND_OUTCOMES } from '../actions/refund-charge.ts';
import type { Fault } from '../faults.ts';
import { ApiError, invalidRequest, renderError } from '../http/errors.ts';
import type { FormObject, FormValue } from '../http/form.ts';
import { boolean, integer, oneOf, optional, readParams, required, text } from '../http/params.ts';
import { header, json, type Reply, readBody } from '../http/request.ts';
import { matchRoute, type Route } from '../http/router.ts';
import { DISPUTE_REASONS } from '../objects/dispute.ts';
import { REFUND_REASONS } from '../objects/refund.ts';
import type { Control } from './control.ts';

interface ControlCall {
  readonly control: Control;
  readonly id: string;
  /** The JSON body, and the query of a GET. */
  readonly json: Record<string, unknown>;
  /** The same with numbers and booleans as text, for the parameter readers. */
  readonly form: FormObject;
}

type ControlHandler = (call: ControlCall) => unknown;

const IDLE_MS = 10_000;

const settled = oneOf('succeeded', 'failed');

const routes: ReadonlyArray<Route<ControlHandler>> = [
  { method: 'POST', path: '/_sandbox/checkout/:id/pay', handle: pay },
  {
    method: 'POST',
    path: '/_sandbox/checkout/:id/expire',
    handle: ({ control, id }) => control.expireCheckout(id),
  },
  { method: 'POST', path: '/_sandbox/payments/:id/authenticate', handle: authenticate },
  { method: 'POST', path: '/_sandbox/payments/:id/settle', handle: settle },
  { method: 'POST', path: '/_sandbox/payments/:id/refund', handle: refund },
  { method: 'POST', path: '/_sandbox/payments/:id/dispute', handle: dispute },
  {
    method: 'POST',
    path: '/_sandbox/payments/:id/warn',
    handle: ({ control, id }) => control.warnOfFraud(id),
  },
  { method: 'POST', path: '/_sandbox/refunds/:id/settle', handle: settleRefund },
  { method: 'POST', path: '/_sandbox/disputes/:id/win', handle: winDispute },
  {
    method: 'POST',
    path: '/_sandbox/disputes/:id/lose',
    handle: ({ control, id }) => control.loseDispute(id),
  },
  {
    method: 'POST',
    path: '/_sandbox/disputes/:id/appeal',
    handle: ({ control, id }) => control.appealDispute(id),
  },
  {
    method: 'POST',
    path: '/_sandbox/customers/:id/delete',
    handle: ({ control, id }) => control.deleteCustomer(id),
  },
  { method: 'POST', path: '/_sandbox/customers/:id/cards', handle: saveCard },
  { method: 'POST', path: '/_sandbox/payment_methods/:id/renew', handle: renewCard },
  {
    method: 'POST',
    path: '/_sandbox/payment_methods/:id/detach',
    handle: ({ control, id }) => control.detachCard(id),
  },
  { method: 'POST', path: '/_sandbox/payouts', handle: payOut },
  { method: 'GET', path: '/_sandbox/endpoints', handle: ({ control }) => control.endpoints() },
  { method: 'GET', path: '/_sandbox/deliveries', handle: ({ control }) => control.deliveries() },
  {
    method: 'POST',
    path: '/_sandbox/deliveries/:id/redeliver',
    handle: ({ control, id }) => control.redeliver(id),
  },
  { method: 'POST', path: '/_sandbox/release', handle: release },
  { method: 'GET', path: '/_sandbox/idle', handle: idle },
  { method: 'GET', path: '/_sandbox/faults', handle: ({ control }) => control.waitingFaults() },
  { method: 'POST', path: '/_sandbox/faults', handle: addFault },
  { method: 'DELETE', path: '/_sandbox/faults', handle: clearFaults },
];

/** Answer a request whose path begins with `/_sandbox/`. */
export async function handleControl(control: Control, message: IncomingMessage, url: URL): Promise<Reply> {
  try {
    const match = matchRoute(routes, message.method ?? 'GET', url.pathname);
    if (match === undefined)
      throw new ApiError(404, 'invalid_request_error', 'The sandbox has no such route.');
    const body = await readJson(message, url);
    const call = { control, id: match.names.id ?? '', json: body, form: toForm(body) };
    return json(200, (await match.handle(call)) ?? {});
  } catch (error) {
    if (error instanceof ApiError) return json(error.status, renderError(error));
    throw error;
  }
}

function pay({ control, id, form }: ControlCall) {
  const { card, email, country, tax_id, exp_month, exp_year } = readParams(form, {
    card: required(text()),
    email: optional(text()),
    country: optional(text({ max: 2 })),
    tax_id: optional(text({ max: 50 })),
    exp_month: optional(integer({ min: 1, max: 12 })),
    exp_year: optional(integer()),
  });
  return control.pay(id, { card, email, country, taxId: tax_id, expMonth: exp_month, expYear: exp_year });
}

function authenticate({ control, id, form }: ControlCall) {
  return control.authenticate(id, readParams(form, { confirmed: required(boolean()) }));
}

function settle({ control, id, form }: ControlCall) {
  return control.settle(id, readParams(form, { outcome: optional(settled) }).outcome);
}

function refund({ control, id, form }: ControlCall) {
  const request = readParams(form, {
    amount: optional(integer({ min: 1 })),
    reason: optional(oneOf(...REFUND_REASONS)),
    outcome: optional(oneOf(...REFUND_OUTCOMES)),
  });
  return control.refund(id, request);
}

function dispute({ control, id, form }: ControlCall) {
  const request = readParams(form, {
    amount: optional(integer({ min: 1 })),
    reason: optional(oneOf(...DISPUTE_REASONS)),
    inquiry: optional(boolean()),
  });
  return control.dispute(id, request);
}

function winDispute({ control, id, form }: ControlCall) {
  return control.winDispute(id, readParams(form, { amount: optional(integer({ min: 1 })) }));
}

function payOut({ control, form }: ControlCall) {
  const { arrival_date, ...request } = readParams(form, {
    created: optional(integer({ min: 1 })),
    arrival_date: optional(integer({ min: 1 })),
    except: optional(text()),
    manual: optional(boolean()),
    status: optional(oneOf(...PAYOUT_STATUSES)),
  });
  return control.payOut({ ...request, arrivalDate: arrival_date });
}

function settleRefund({ control, id, form }: ControlCall) {
  return control.settleRefund(id, readParams(form, { outcome: required(settled) }).outcome);
}

function saveCard({ control, id, form }: ControlCall) {
  return control.saveCard(id, readParams(form, { card: required(text()) }).card);
}

function renewCard({ control, id, form }: ControlCall) {
  const { card, exp_month, exp_year } = readParams(form, {
    card: optional(text()),
    exp_month: optional(integer({ min: 1, max: 12 })),
    exp_year: optional(integer()),
  });
  return control.renewCard(id, { card, expMonth: exp_month, expYear: exp_year });
}

function release({ control, form }: ControlCall) {
  const { order } = readParams(form, { order: optional(oneOf('created', 'reversed')) });
  return control.release(order ?? 'reversed');
}

/** `idle` is false if deliveries are still pending after `timeout_ms`. */
async function idle({ control, form }: ControlCall) {
  const { timeout_ms = IDLE_MS } = readParams(form, {
    timeout_ms: optional(integer({ min: 0, max: 600_000 })),
  });
  const stop = new AbortController();
  const timeout = delay(timeout_ms, false, { signal: stop.signal }).catch(() => false);
  const reached = await Promise.race([control.idle().then(() => true), timeout]);
  stop.abort();
  return { idle: reached };
}

function addFault({ control, json: fault }: ControlCall) {
  try {
    control.fault(fault as unknown as Fault);
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest(error.message);
    throw error;
  }
  return control.waitingFaults();
}

function clearFaults({ control }: ControlCall) {
  control.clearFaults();
  return [];
}

async function readJson(message: IncomingMessage, url: URL): Promise<Record<string, unknown>> {
  const body = await readBody(message);
  if (body === '') return Object.fromEntries(url.searchParams);
  // A form on another website can send text, but not with a JSON content type.
  if (!header(message, 'content-type')?.startsWith('application/json')) {
    throw invalidRequest('Send the body as application/json.');
  }
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    throw invalidRequest('The body is not JSON.');
  }
  throw invalidRequest('The body must be a JSON object.');
}

function toForm(body: Record<string, unknown>): FormObject {
  const scalar = (value: unknown): FormValue => (typeof value === 'object' ? {} : String(value));
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, scalar(value)]),
  );
}
