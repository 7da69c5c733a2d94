/** A campaign of one tenant on a real service, small enough for a test: some of each operation, without faults. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { Watchdog_Action } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { type DescMethodUnary, toJson } from '@bufbuild/protobuf';
import { vi } from 'vitest';
import { askAgain } from '../../../faults/check/ask-again.ts';
import type { Answer, Args, Entry, SentRecord } from '../../../faults/check/journal.ts';
import type { Reads } from '../../../faults/check/views.ts';
import { digestOf, secretsIn } from '../../../faults/load/secrets.ts';
import { withToken } from '../../../faults/load/tokens.ts';
import { describeRequest, noteOf, type WebhookKeys } from '../../../faults/stage/receivers.ts';
import type { Stage } from '../../../faults/stage/stage.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { COOKIE, makeMember } from '../../support/console.ts';
import { emptyLog } from '../../support/events.ts';
import type { TestControl, useControl } from '../../support/grpc.ts';
import { eventsOf, type Receiver } from '../../support/receiver.ts';
import type { RequestOptions, TestService, TestTenant } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

/** The person whom the campaign erases. */
export const PERSON = 'person-1f3a9c77';

/** Paths of receivers: of events in the order of the tenant, and of lists of events in that of each room. */
export const IN_ORDER = '/campaign';
export const BY_ROOM = '/rooms';
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';

export interface SmallCampaign {
  readonly tenant: TestTenant;
  readonly journal: readonly Entry[];
  readonly reads: Reads;
}

/** One tenant does everything, another is exempt from charging. */
export async function runSmallCampaign(
  app: TestService,
  receiver: Receiver,
  controlOf: ReturnType<typeof useControl>,
): Promise<SmallCampaign> {
  const [running, unbilled] = [await signUp(app, controlOf), await signUp(app, controlOf)];
  const [tenant, exempt] = [running.tenant, unbilled.tenant];
  running.listen(receiver);
  await running.run(receiver);
  await running.trespass(exempt);
  await running.settle();
  await running.writeBook();
  await unbilled.makeRelayKey();
  await unbilled.makeExempt();
  await unbilled.reportUsage('guest');
  const journal = [...running.journal, ...unbilled.journal];
  return { tenant, journal, reads: await readsOf(app, [tenant, exempt]) };
}

/** A tenant, and its journal from the beginning. */
async function signUp(app: TestService, controlOf: ReturnType<typeof useControl>): Promise<Running> {
  const invokedUs = nowUs();
  const body = { email: 'ada@example.com', name: 'Ada Video' };
  const { json } = await app.request('POST', '/v1/signup', { body });
  const { tenant: id, api_key: key, key_id: keyId } = json;
  const tenant = { id, key, keyId, relayKey: '', relayKeyId: '' };
  const running = new Running(app, tenant, controlOf(tenant));
  running.noteSignUp(invokedUs, json);
  await emptyLog(app.service.deps.db, idOf(tenant));
  return running;
}

/** The clock of journals. */
const nowUs = () => Math.round(performance.now() * 1_000);

async function readsOf(app: TestService, tenants: readonly TestTenant[]): Promise<Reads> {
  const keys = new Map(tenants.map(({ id, key }) => [id, key]));
  const cookies = new Map<string, string>();
  for (const tenant of tenants)
    cookies.set(tenant.id, `${COOKIE}=${(await makeMember(app.database.pool, idOf(tenant))).secret}`);
  const ask = async (path: string, options: RequestOptions) => {
    const answer = await askAgain(() => app.request('GET', path, options));
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    tenants: tenants.map(({ id }) => id),
    get: async (tenant, path) => (await ask(path, { key: keys.get(tenant) })).json,
    text: async (tenant, path, accept) =>
      (await ask(path, { key: keys.get(tenant), headers: { accept } })).text,
    console: async (tenant, path) => (await ask(path, { headers: { cookie: cookies.get(tenant)! } })).text,
  };
}

class Running {
  readonly journal: Entry[] = [];
  readonly #app: TestService;
  #tenant: TestTenant;
  readonly #control: TestControl;
  readonly #keys = new Map<string, WebhookKeys>();
  #changes = 0;
  #records = 0;

  constructor(app: TestService, tenant: TestTenant, control: TestControl) {
    this.#app = app;
    this.#tenant = tenant;
    this.#control = control;
  }

  get tenant(): TestTenant {
    return this.#tenant;
  }

  noteSignUp(invokedUs: number, json: { readonly tenant: string; readonly key_id: string }): void {
    this.#write(invokedUs, 'signup', {}, 201, true, { tenant: json.tenant, key_id: json.key_id });
    this.#noteSecrets({ json });
  }

  async makeRelayKey(): Promise<void> {
    const { id, text } = await this.#makeKey('relay');
    this.#tenant = { ...this.#tenant, relayKey: text, relayKeyId: id };
  }

  async makeExempt(): Promise<void> {
    const invokedUs = this.#now();
    await setExempt(this.#app.service.deps.db, OPERATOR, idOf(this.#tenant), true);
    this.#write(invokedUs, 'tenant.exempt', { exempt: true }, 0, true);
  }

  async run(receiver: Receiver): Promise<void> {
    const settings = { [IN_ORDER]: {}, [BY_ROOM]: { order: 'room', max_batch: 5 } };
    for (const [path, rest] of Object.entries(settings)) {
      const body = { url: receiver.url(path), ...rest };
      const { answer } = await this.#rest('webhook.create', 'POST', '/v1/webhooks', body);
      this.#keys.set(path, answer as unknown as WebhookKeys);
    }
    await this.makeRelayKey();
    const payment = await this.#pay(5_000);
    await this.#topUp();
    await this.#useKeys();
    await this.#setBudget('lobby', { room: 'lobby', period: 'month', limit_micros: 9_000_000, hard: false });
    await this.reportUsage(PERSON);
    this.#app.sandbox.control.refund(payment, { amount: 700 });
    await this.#app.settled();
    await this.#runRooms();
    await this.#erase();
    await this.#setBudget('all', { period: 'total', limit_micros: 9_000_000, hard: true });
    await this.#rest('events.list', 'GET', '/v1/events');
    const month = new Date().toISOString().slice(0, 7);
    await this.#rest('statement.read', 'GET', `/v1/statements/${month}?so_far=true`);
    await this.#giveCredit();
    await this.#readBalance();
  }

  async #setBudget(id: string, budget: object): Promise<void> {
    await this.#rest('budget.set', 'PUT', `/v1/budgets/${id}`, budget, { id, ...budget });
  }

  async #giveCredit(): Promise<void> {
    const { db } = this.#app.service.deps;
    const expiresAt = new Date(Date.now() + 300 * 86_400_000);
    const reason = 'a test';
    const invokedUs = this.#now();
    const granted = { amount: 3_000_000n, reason, expiresAt, key: 'a-grant' };
    await grantCredit(db, OPERATOR, idOf(this.#tenant), granted);
    const asked = { amount: '3000000', reason, expires_at: expiresAt.toISOString(), idempotency: 'a-grant' };
    this.#write(invokedUs, 'grant.create', asked, 0, true);
    await adjustCredit(db, OPERATOR, idOf(this.#tenant), { amount: 7n, reason, id: undefined });
    this.#write(invokedUs, 'credit.adjusted', { amount: '7', reason }, 0, true);
  }

  listen(receiver: Receiver): void {
    for (const webhook of [IN_ORDER, BY_ROOM]) {
      receiver.answer(webhook, (received) => {
        const { headers, text, event } = received;
        const keys = this.#keys.get(webhook);
        this.#note('webhook.received', {
          ...{
            webhook,
            id: String(headers['webhook-id']),
            answered: 204,
            isList: event.events !== undefined,
          },
          ...(keys && describeRequest(headers, text, keys)),
          events: eventsOf(received).map(noteOf),
        });
        return 204;
      });
    }
  }

  /** Until nothing is under way. */
  async settle(): Promise<void> {
    const { pool } = this.#app.database;
    const left = `select (select count(*) from unnumbered_events) + (select count(*) from event_turns)
                       + (select count(*) from erasures where state = 'pending')
                       + (select count(*) from accounts a left join session_cursors c using (tenant_id)
                           where a.last_seq > coalesce(c.seq, 0))
                       + (select count(*) from watchdogs where state in ('armed', 'warned'))
                       + (select count(*) from top_up_attempts where finished_at is null)
                       + (select count(*) from webhook_cursors c
                           where exists (select from events e where e.tenant_id = c.tenant_id and e.seq > c.seq)) as count`;
    const settled = async () => {
      const { rows } = await pool.query<{ count: bigint }>(left);
      if (rows[0]!.count > 0n) throw new Error(`${rows[0]!.count} things are under way`);
    };
    await vi.waitFor(settled, { timeout: 60_000, interval: 50 });
  }

  async writeBook(): Promise<void> {
    const { stripe } = this.#app;
    for await (const { id, status, customer, ...rest } of stripe.paymentIntents.list({ limit: 100 })) {
      const { amount, metadata } = rest;
      if (status === 'succeeded')
        this.#note('provider.charged', { payment: id, amount, metadata, customer: customer as string });
    }
    for await (const { id, amount, status, payment_intent } of stripe.refunds.list({ limit: 100 }))
      this.#note('provider.refunded', { payment: `${payment_intent}`, refund: id, amount, status: status! });
  }

  /** What the outside saw. */
  #note(op: string, args: Args): void {
    const now = this.#now();
    this.journal.push({ client: -1, op, args, invokedUs: now, returnedUs: now, outcome: 'ok' });
  }

  #now(): number {
    return nowUs();
  }

  #noteSecrets(reply: object): void {
    for (const { what, parts } of secretsIn(reply))
      this.#note('secret.got', { tenant: this.#tenant.id, what, digests: parts.map(digestOf) });
  }

  async #rest(
    op: string,
    method: string,
    path: string,
    body?: unknown,
    args: Args = {},
    key = { id: this.#tenant.keyId, text: this.#tenant.key },
  ): Promise<Entry> {
    const invokedUs = this.#now();
    const { status, json } = await this.#app.request(method, path, {
      key: key.text,
      ...(body !== undefined && { body }),
    });
    const answer = op === 'events.list' ? { events: json.events.map(noteOf) } : (json?.erasure ?? json);
    this.#noteSecrets({ json });
    return this.#write(invokedUs, op, { key: key.id, ...args }, status, status < 300, answer);
  }

  async #call<M extends DescMethodUnary>(
    op: string,
    method: M,
    args: Args,
    request: object = args,
  ): Promise<Entry> {
    const invokedUs = this.#now();
    const message = await this.#control.call(method, request as never);
    const { token, ...rest } = toJson(method.output, message) as Record<string, unknown>;
    this.#noteSecrets({ message: { token } });
    const stage = { places: [{ service: { url: this.#app.url } }] } as unknown as Stage;
    const { answer } =
      typeof token === 'string'
        ? await withToken({ outcome: 'ok', answer: rest }, token, stage)
        : { answer: rest };
    return this.#write(invokedUs, op, { key: this.#tenant.keyId, ...args }, 0, true, answer);
  }

  #write(invokedUs: number, op: string, args: Args, status: number, isOk: boolean, answer?: Answer): Entry {
    const idempotency = `change-${this.#changes++}`;
    const entry: Entry = {
      ...{ client: 1, op, args: { tenant: this.#tenant.id, idempotency, ...args }, status },
      ...{ invokedUs, returnedUs: this.#now(), outcome: isOk ? 'ok' : 'refused' },
      ...(answer && { answer }),
    };
    this.journal.push(entry);
    return entry;
  }

  async #pay(cents: number): Promise<string> {
    const { payment } = await this.#app.pay(this.#tenant, { cents });
    const session = `page-of-${payment}`;
    this.#write(this.#now(), 'checkout.create', { amount_cents: cents }, 200, true, { session });
    this.#note('checkout.paid', { tenant: this.#tenant.id, session, payment });
    return payment;
  }

  /** The balance is below the threshold, so the next charge causes a top-up. */
  async #topUp(): Promise<void> {
    const wanted = { enabled: true, below_cents: 6_000, amount_cents: 2_000 };
    await this.#rest('auto_top_up.set', 'PUT', '/v1/billing/auto-top-up', wanted, wanted);
    const alert = { thresholds: [{ kind: 'balance', below_micros: 4_000_000 }] };
    await this.#rest('alert.set', 'PUT', '/v1/alerts', alert, { below_micros: 4_000_000 });
  }

  async #makeKey(kind: string): Promise<{ readonly id: string; readonly text: string }> {
    const invokedUs = this.#now();
    const body = { name: 'a key', kind };
    const { json } = await this.#app.request('POST', '/v1/keys', { key: this.#tenant.key, body });
    this.#write(invokedUs, 'key.create', { key: this.#tenant.keyId }, 201, true, { key: json.key });
    this.#noteSecrets({ json });
    return { id: json.key.id, text: json.api_key };
  }

  async #useKeys(): Promise<void> {
    const key = await this.#makeKey('backend');
    const use = () => this.#rest('key.use', 'GET', '/v1/alerts', undefined, {}, key);
    await use();
    await this.#rest('key.revoke', 'DELETE', `/v1/keys/${key.id}`, undefined, { id: key.id });
    await use();
  }

  async trespass({ id: other, keyId }: TestTenant): Promise<void> {
    const args = { other, what: 'revoke a key' };
    await this.#rest('trespass', 'DELETE', `/v1/keys/${keyId}?confirm=stop-service`, undefined, args);
  }

  async reportUsage(participant: string): Promise<void> {
    const first = [
      this.#record(),
      this.#record({ participant }),
      this.#record({ tier: 'audio', egress_bytes: 80_000 }),
    ];
    await this.#report(first);
    await this.#readBalance();
    await this.#app.settled();
    await this.#report([...first.slice(0, 1), this.#record({ role: 'audience', seconds: 10 })]);
    const twice = this.#record({ room: 'lobby' });
    await this.#report([twice, twice, this.#record({ egress_bytes: 1 })]);
    await this.#readBalance();
  }

  #record(fields: Partial<SentRecord> = {}): SentRecord {
    this.#records += 1;
    return {
      id: `small-${this.#records}`,
      ...{ role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_001, ingress_bytes: 1_000_000 },
      ...fields,
    };
  }

  async #report(records: readonly SentRecord[]): Promise<void> {
    const key = { id: this.#tenant.relayKeyId, text: this.#tenant.relayKey };
    await this.#rest('usage.report', 'POST', '/v1/usage', { records }, { records }, key);
  }

  async #readBalance(): Promise<void> {
    await this.#rest('billing.read', 'GET', '/v1/billing');
  }

  async #runRooms(): Promise<void> {
    const room = 'stage';
    const { createRoom, getRoom, endRoom } = RoomService.method;
    const mint = (username: string) =>
      this.#call(
        'mint',
        TokenService.method.mintClientToken,
        { room, username, device: THUMBPRINT, role: 'host' },
        { room, username, deviceThumbprint: THUMBPRINT, role: 'host' },
      );
    await this.#call('room.create', createRoom, { room });
    await mint('ann');
    await this.#call('kick', ModerationService.method.kickParticipant, { room, username: 'ann' });
    await mint('ann');
    const bob = { case: 'username', value: 'bob' };
    const ban = ModerationService.method.banSubject;
    await this.#call('ban', ban, { room, username: 'bob' }, { room, subject: bob });
    await this.#call('room.get', getRoom, { room });
    await this.#call('room.end', endRoom, { room });
    await this.#call('room.create', createRoom, { room: 'watched' });
    await this.#watch('watched');
  }

  async #watch(room: string): Promise<void> {
    const condition = { case: 'maxDuration', value: { seconds: 1n } };
    const watchdog = { room, condition, action: Watchdog_Action.END_ROOM };
    const args = { room, seconds: 1, action: 'end_room' };
    await this.#call('watchdog.set', WatchdogService.method.createWatchdog, args, { watchdog });
  }

  async #erase(): Promise<void> {
    const body = { participant: PERSON };
    await this.#rest('erasure.request', 'POST', '/v1/participants/erase', body, { username: PERSON });
  }
}
