/**
 * What else a tenant does: alerts, budgets, erasures, statements, lists of events, grants and adjustments that an operator makes, and what
 * it tries with things of another tenant.
 */
import { RoomService } from '@boxoffice/contract/room_service';
import { grantCredit } from '../../src/money/grants/grant-credit.ts';
import { adjustCredit } from '../../src/money/ledger/adjust-credit.ts';
import { OPERATOR } from '../../test/support/tenants.ts';
import type { WireRecord } from '../operations.ts';
import { noteOf } from '../stage/receivers.ts';
import type { Client } from './client.ts';
import { kind } from './kind.ts';
import { operate } from './operate.ts';
import type { Secret } from './tenant.ts';
import { drawRecord, newRelayKey, report } from './usage.ts';

const WEIGHTS = {
  alerts: 1,
  budget: 1,
  'read budget': 2,
  erase: 0.5,
  'erase a stranger': 0.7,
  statement: 1,
  events: 3,
  grant: 0.7,
  adjust: 0.4,
  trespass: 1,
};
/** A client makes no more: the check looks for every name in every row. */
const STRANGERS_MAX = 40;

interface Step {
  readonly action: keyof typeof WEIGHTS;
  readonly service: number;
  readonly number: number;
  readonly micros: number;
  readonly seconds: number;
  /** What a stranger used, or is reported for another tenant. */
  readonly record: Omit<WireRecord, 'id' | 'participant'>;
}

export const settings = kind<Step>({
  name: 'settings',
  clients: 1,
  pauseSeconds: 1,
  draw: (random) => ({
    action: random.weighted(WEIGHTS),
    service: random.integer(0, 1),
    number: random.integer(0, 2),
    micros: random.integer(1_000_000, 30_000_000),
    seconds: random.integer(61, 90),
    record: drawRecord(random),
  }),
  open: async (client) => {
    let after = 0;
    let strangers = 0;
    const key = await newRelayKey(client);
    const actions: Readonly<Record<Step['action'], (step: Step) => Promise<unknown>>> = {
      alerts: (step) => setAlerts(client, step),
      budget: (step) => setBudget(client, step),
      'read budget': (step) => readBudget(client, step),
      erase: (step) => erase(client, step, `u${5 + step.number}`),
      'erase a stranger': async (step) => {
        if (strangers < STRANGERS_MAX)
          await eraseStranger(client, key, step, `stranger-${client.number}-${strangers++}-`);
      },
      statement: (step) => readStatement(client, step),
      events: async (step) => {
        after = await listEvents(client, step, after);
      },
      grant: (step) => grant(client, step),
      adjust: (step) => adjust(client, step),
      trespass: (step) => trespass(client, key, step),
    };
    return async (step) => void (await actions[step.action](step));
  },
});

async function setAlerts(client: Client, { service, micros }: Step): Promise<void> {
  const body = { thresholds: [{ kind: 'balance', below_micros: micros }] };
  const request = { method: 'PUT', path: '/v1/alerts', body } as const;
  await client.change('alert.set', { below_micros: micros }, service, request);
}

/** A budget has the same room each time, because its rooms cannot be changed. */
async function setBudget(client: Client, { service, number, micros }: Step): Promise<void> {
  const id = `budget-${number}`;
  const settings = { room: `r${number}`, limit_micros: micros, hard: number === 0 };
  const body = { ...settings, period: 'day', alert_percents: [50, 100] };
  const request = { method: 'PUT', path: `/v1/budgets/${id}`, body } as const;
  await client.change('budget.set', { id, ...settings }, service, request, (json) => json);
}

async function readBudget(client: Client, { service, number }: Step): Promise<void> {
  const id = `budget-${number}`;
  await client.read('budget.read', { id }, service, `/v1/budgets/${id}`);
}

/** Its name is used here only. The dash at the end keeps a name from being the beginning of another one. */
async function eraseStranger(client: Client, key: Secret, step: Step, participant: string): Promise<void> {
  const records = [{ id: participant.replace('stranger', 'of'), ...step.record, participant }];
  await client.insist(step.service, (at) => report(client, at, key, records));
  await erase(client, step, participant);
}

/** Those who are present are refused, and most are not. */
async function erase(client: Client, { service }: Step, participant: string): Promise<void> {
  const request = { method: 'POST', path: '/v1/participants/erase', body: { participant } } as const;
  const args = { username: participant };
  await client.change('erasure.request', args, service, request, ({ erasure }) => erasure);
}

async function readStatement(client: Client, { service }: Step): Promise<void> {
  const month = new Date().toISOString().slice(0, 7);
  await client.read('statement.read', { month }, service, `/v1/statements/${month}?so_far=true`);
}

/** Returns the number up to which it has read. */
async function listEvents(client: Client, { service }: Step, after: number): Promise<number> {
  const path = `/v1/events?after=${after}`;
  const { outcome, json } = await client.read('events.list', { after }, service, path, ({ events }) => ({
    events: events.map(noteOf),
  }));
  return outcome === 'ok' ? (json.events.at(-1)?.seq ?? after) : after;
}

async function grant(client: Client, { micros, seconds }: Step): Promise<void> {
  const expiresAt = new Date(Date.now() + seconds * 1000);
  const [key, reason] = [client.newIdempotencyKey(), `a campaign of ${seconds} s`];
  const asked = { amount: String(micros), reason, expires_at: expiresAt.toISOString(), idempotency: key };
  const given = { amount: BigInt(micros), reason, expiresAt, key };
  await operate(client, 'grant.create', asked, (db, tenant) => grantCredit(db, OPERATOR, tenant, given));
}

async function adjust(client: Client, { number, micros, seconds }: Step): Promise<void> {
  const [id, reason] = [client.newIdempotencyKey(), `a mistake of ${seconds} s`];
  const amount = BigInt(number === 0 ? -micros : micros);
  const asked = { amount: String(amount), reason, idempotency: id };
  await operate(client, 'credit.adjusted', asked, (db, tenant) =>
    adjustCredit(db, OPERATOR, tenant, { amount, reason, id }),
  );
}

/** With its own keys, it asks for what belongs to another tenant. */
async function trespass(client: Client, relay: Secret, { service, number, record }: Step): Promise<void> {
  const { tenant, shared } = client;
  const { key } = tenant;
  const other = shared.tenants[(tenant.index + 1) % shared.tenants.length]!;
  if (other === tenant) return;
  const tries = [
    () =>
      client.rest(
        'trespass',
        { other: other.id, what: 'revoke a key' },
        { method: 'DELETE', path: `/v1/keys/${other.key.id}?confirm=stop-service`, key, service },
      ),
    () =>
      client.rest(
        'trespass',
        { other: other.id, what: 'report usage' },
        {
          ...{ method: 'POST', path: '/v1/usage', key: relay, service },
          body: { records: [{ id: 'trespass', tenant: other.id, ...record }] },
        },
      ),
    () =>
      client.call(
        'trespass',
        { other: other.id, what: 'end a room' },
        RoomService.method.endRoom,
        { tenant: other.id, room: 'r0' },
        service,
      ),
  ];
  await tries[number]!();
}
