/**
 * The main job once, from outside, over HTTP: sign up, pay on the sandbox's page, create a relay key,
 * report usage, receive an alert by webhook, watch the automatic top-up, join a room with a device credential, and read
 * what the session cost, reach a budget, and read the ledger and the statement of the month.
 *
 * It uses the service that listens on HOST and PORT; when none does, it starts one in a temporary
 * folder and stops it at the end. Exit code 0 means that everything worked.
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Receiver, startReceiver } from './demo-receiver.ts';
import { isBoxoffice, spawnService } from './own-service.ts';
import { say, show, step } from './story.ts';

const CREDIT_WITHIN_MS = 15_000;
const ASSIGNED_WITHIN_MS = 15_000;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads answers of every shape
  readonly json: any;
}

/** JSON, or the text of a refusal. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

class UnexpectedAnswer extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

class Api {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: string, path: string, options: { key?: string; body?: unknown; expect?: number } = {}) {
    const answer = await fetch(this.#url + path, {
      method,
      headers: {
        ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
        ...(options.body ? { 'content-type': 'application/json' } : {}),
      },
      ...(options.body ? { body: JSON.stringify(options.body) } : {}),
    });
    const result: Answer = { status: answer.status, json: parsed(await answer.text()) };
    const expected = options.expect ?? 200;
    if (answer.status !== expected) {
      const said = `${method} ${path} answered ${answer.status}: ${JSON.stringify(result.json)}`;
      throw new UnexpectedAnswer(said, answer.status);
    }
    return result.json;
  }
}

async function main(): Promise<void> {
  const url = `http://${process.env.HOST || '127.0.0.1'}:${process.env.PORT || 8080}`;
  if (await isBoxoffice(url)) {
    await requireSandbox(url);
    say(`Using the service at ${url}`);
    await tellTheStory(new Api(url));
    return;
  }
  say(`No service at ${url}; starting one for this demo`);
  const own = await spawnService();
  try {
    await own.ready();
    await tellTheStory(new Api(own.url));
  } finally {
    await own.stop();
  }
}

async function tellTheStory(api: Api): Promise<void> {
  const tenant = await signUp(api);
  await pay(tenant.checkoutUrl);
  await waitForCredit(api, tenant.key, 20_000_000);

  const relayKey = await createRelayKey(api, tenant.key);
  await reportUsage(api, relayKey);
  const receiver = await startReceiver();
  try {
    const webhook = await askForAlerts(api, tenant.key, receiver);
    await topUpByItself(api, tenant.key, relayKey);
    await showAlerts(receiver);
    await api.call('DELETE', `/v1/webhooks/${webhook}`, { key: tenant.key, expect: 204 });
  } finally {
    receiver.close();
  }
  const credential = await createDeviceCredential(api, tenant.key);
  await joinRoom(api, credential);
  await showSession(api, tenant.key, relayKey);
  await reachBudget(api, tenant.key, credential);
  const balance = await showLedger(api, tenant.key);
  await showStatement(api, tenant.key, balance);
  say('\nDone: every micro-dollar is accounted for.');
}

async function signUp(api: Api): Promise<{ key: string; checkoutUrl: string }> {
  step('A tenant signs up');
  const body = { email: 'demo@example.com', name: 'Demo tenant' };
  const answer = await api.call('POST', '/v1/signup', { body, expect: 201 }).catch((error: unknown) => {
    if (!(error instanceof UnexpectedAnswer) || error.status !== 429) throw error;
    return createdByOperator(api, body);
  });
  show('tenant', `${answer.tenant} (${answer.status})`);
  show('API key', `${answer.api_key.slice(0, 21)}... (shown once)`);
  show('pay at', answer.checkout_url);
  return { key: answer.api_key, checkoutUrl: answer.checkout_url };
}

/** An address may sign up five times an hour. An operator is not limited. */
async function createdByOperator(api: Api, { email, name }: { email: string; name: string }) {
  say('    This address has signed up too often, so the operator creates the tenant: admin tenants create');
  const admin = new URL('../src/run/admin/main.ts', import.meta.url).pathname;
  const args = [admin, 'tenants', 'create', '--name', name, '--email', email, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { id, status, api_key } = JSON.parse(stdout);
  const { checkout_url } = await api.call('POST', '/v1/billing/checkout', {
    key: api_key,
    body: { amount_cents: 2000 },
  });
  return { tenant: id, status, api_key, checkout_url };
}

/** What a person does in a browser: open the page, keep the preselected card, press Pay. */
async function pay(checkoutUrl: string): Promise<void> {
  step('It pays $20.00 with a test card on the sandbox page');
  const page = await (await fetch(checkoutUrl)).text();
  const form = readPaymentForm(page, checkoutUrl);
  const answer = await fetch(form.action, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(checkoutUrl).origin },
    body: form.fields,
  });
  if (answer.status !== 303) throw new Error(`the payment page answered ${answer.status}`);
  show('paid', `sent back to ${answer.headers.get('location')}`);
}

function readPaymentForm(page: string, pageUrl: string): { action: string; fields: URLSearchParams } {
  const form = /<form[^>]*method="post"[^>]*>[\s\S]*?<\/form>/i.exec(page)?.[0];
  if (!form) throw new Error('the payment page has no form');
  const fields = new URLSearchParams();
  for (const [input] of form.matchAll(/<(?:input|button)\b[^>]*>/g)) {
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1];
    const name = attribute('name');
    const isChoice = attribute('type') === 'radio' && !/\bchecked\b/.test(input);
    if (name && !isChoice && !fields.has(name)) fields.set(name, attribute('value') ?? '');
  }
  const action = /<form[^>]*\baction="([^"]*)"/i.exec(form)?.[1] ?? pageUrl;
  return { action: new URL(action, pageUrl).href, fields };
}

async function createRelayKey(api: Api, key: string): Promise<string> {
  step('It creates a key for its relay');
  const { key: created, api_key } = await api.call('POST', '/v1/keys', {
    key,
    body: { name: 'my relay', kind: 'relay' },
    expect: 201,
  });
  show('relay key', `${created.id} (${created.kind})`);
  return api_key;
}

async function reportUsage(api: Api, relayKey: string): Promise<void> {
  step('The relay reports three participants, and then, to be safe, the same again');
  const records = [
    {
      room: 'lobby',
      participant: 'ann',
      role: 'host',
      tier: 'full_hd',
      seconds: 3600,
      egress_bytes: 1_350_000_000,
    },
    {
      room: 'lobby',
      participant: 'bob',
      role: 'audience',
      tier: 'hd',
      seconds: 3600,
      egress_bytes: 675_000_000,
    },
    {
      room: 'lobby',
      participant: 'cem',
      role: 'audience',
      tier: 'audio',
      seconds: 60,
      egress_bytes: 480_000,
    },
  ].map((record) => ({ ...record, id: `demo.${record.participant}.1`, ingress_bytes: 1_000_000 }));
  for (let time = 0; time < 2; time += 1) {
    const answer = await api.call('POST', '/v1/usage', { key: relayKey, body: { records } });
    const counts = `charged ${answer.charged}, duplicates ${answer.duplicates}`;
    show(
      time === 0 ? 'first' : 'again',
      `${counts}, total ${answer.total.display}, admitted ${answer.admitted}`,
    );
  }
}

/** Returns the id of the webhook. */
async function askForAlerts(api: Api, key: string, receiver: Receiver): Promise<string> {
  step('It asks to hear, by webhook, when its credit is below $19.95');
  const { webhook, secret } = await api.call('POST', '/v1/webhooks', {
    key,
    body: { url: receiver.url, types: ALERTS },
    expect: 201,
  });
  receiver.useSecret(secret);
  await api.call('PUT', '/v1/alerts', {
    key,
    body: { thresholds: [{ kind: 'balance', below_micros: 19_950_000 }] },
  });
  show('webhook', `${webhook.url} (${webhook.state}), secret ${secret.slice(0, 12)}... (shown once)`);
  return webhook.id;
}

const ALERTS = ['balance_low', 'balance_recovered', 'top_up_succeeded'];

async function showAlerts(receiver: Receiver): Promise<void> {
  step('The receiver has verified what came: the charge raised the alert, and the top-up ended it');
  for (const type of ALERTS) {
    const { timestamp, data } = await receiver.received(type);
    const amount = data.amount ?? data.balance;
    say(`    ${type.padEnd(18)} ${amount.display.padStart(14)}  ${timestamp.toISOString()}`);
  }
}

async function topUpByItself(api: Api, key: string, relayKey: string): Promise<void> {
  step('Automatic top-up: below $19.97 charge the saved card $50.00');
  await api.call('PUT', '/v1/billing/auto-top-up', {
    key,
    body: { enabled: true, below_cents: 1997, amount_cents: 5000 },
  });
  await api.call('POST', '/v1/usage', {
    key: relayKey,
    body: {
      records: [
        {
          id: 'demo.dan.1',
          room: 'keynote',
          participant: 'dan',
          role: 'host',
          tier: '2k',
          seconds: 3600,
          egress_bytes: 2_700_000_000,
          ingress_bytes: 1_000_000,
        },
      ],
    },
  });
  await waitForCredit(api, key, 60_000_000);
}

/** Returns the balance, in micros. */
async function showLedger(api: Api, key: string): Promise<bigint> {
  step('The ledger, newest first');
  const { balance, recent } = await api.call('GET', '/v1/billing', { key });
  let sum = 0n;
  for (const entry of recent) {
    sum += BigInt(entry.amount.micros);
    const what = [entry.reference, entry.detail].filter(Boolean).join(' / ');
    say(`    ${entry.kind.padEnd(12)} ${entry.amount.display.padStart(14)}  ${what}`);
  }
  say(`    ${'balance'.padEnd(12)} ${balance.display.padStart(14)}`);
  if (sum !== BigInt(balance.micros))
    throw new Error(`the entries add up to ${sum}, not to ${balance.micros}`);
  return sum;
}

async function showStatement(api: Api, key: string, balance: bigint): Promise<void> {
  step('The statement of this month, so far');
  const month = new Date().toISOString().slice(0, 7);
  const { statement } = await api.call('GET', `/v1/statements/${month}?so_far=true`, { key });
  const { opening, payments, reversals, adjustments, usage, closing } = statement;
  const line = (what: string, { display }: { display: string }) =>
    say(`    ${what.padEnd(24)} ${display.padStart(14)}`);
  line('opening balance', opening);
  line('payments', payments.sum);
  line('reversals', reversals.sum);
  line('adjustments', adjustments.sum);
  for (const { room, total } of usage.rooms) line(`usage of ${room}, less`, total);
  line('closing balance', closing);
  const moved = [opening, payments.sum, reversals.sum, adjustments.sum];
  const sum = moved.reduce((all, { micros }) => all + BigInt(micros), -BigInt(usage.sum.total.micros));
  if (sum !== BigInt(closing.micros) || sum !== balance) {
    throw new Error(`the statement leads to ${sum} and says ${closing.micros}; the balance is ${balance}`);
  }
}

async function createDeviceCredential(api: Api, key: string): Promise<string> {
  step('A device without a back end gets a credential: audio and video, in rooms called demo-...');
  const { device_credential: created, credential } = await api.call('POST', '/v1/device-credentials', {
    key,
    body: { name: 'kiosk', publish: ['audio', 'video'], rooms: ['demo-*'], default_room: 'demo-room' },
    expect: 201,
  });
  show('credential', `${created.id} may publish ${created.publish.join(', ')}`);
  return credential;
}

function join(api: Api, credential: string, username: string, expected = 200) {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = { username, key: publicKey.export({ format: 'jwk' }) };
  return api.call('POST', '/join', { key: credential, body, expect: expected });
}

/** What a device does: make a key that never leaves it, and join with the public half. */
async function joinRoom(api: Api, credential: string): Promise<void> {
  step('The device makes a key of its own and joins; the token works with that key alone');
  const answer = await join(api, credential, 'Ann');
  const [header, claims] = answer.token
    .split('.', 2)
    .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  show('joined', `${answer.room} as ${answer.username}, until ${answer.expiresAt}`);
  show('signed by', `${answer.keyId} (${header.alg}, ${header.typ})`);
  for (const [name, value] of Object.entries(claims)) show(name, JSON.stringify(value));

  const { keys } = await api.call('GET', '/.well-known/jwks.json');
  if (!keys.some((each: { kid: string }) => each.kid === answer.keyId)) {
    throw new Error('the key that signed the token is not published');
  }
}

async function reachBudget(api: Api, key: string, credential: string): Promise<void> {
  step('A hard budget of ten cents a day for those rooms: what a token may cost is held until it expires');
  const body = { room: 'demo-*', period: 'day', limit_micros: 100_000, hard: true, alert_percents: [] };
  const budget = await api.call('PUT', '/v1/budgets/demo-rooms', { key, body });
  show('held', `${budget.held.display} for Ann, ${budget.free.display} left`);
  show('Bob', `402 ${(await join(api, credential, 'Bob', 402)).trim()}`);
  await api.call('DELETE', '/v1/budgets/demo-rooms', { key, expect: 204 });
}

/** Usage is assigned to sessions about a second after its charge. */
async function showSession(api: Api, key: string, relayKey: string): Promise<void> {
  step('The relay reports what Ann used, and her session says what it cost');
  const usage = { role: 'audience', tier: 'hd', seconds: 600, egress_bytes: 112_500_000, ingress_bytes: 0 };
  const record = { id: 'demo.ann.2', room: 'demo-room', participant: 'Ann', ...usage };
  const { total } = await api.call('POST', '/v1/usage', { key: relayKey, body: { records: [record] } });
  for (const until = Date.now() + ASSIGNED_WITHIN_MS; Date.now() < until; await wait(50)) {
    const { sessions } = await api.call('GET', '/v1/sessions?room=demo-room', { key });
    const [session] = sessions;
    if (!session?.records) continue;
    show('session', `${session.id} of ${session.participant}, since ${session.entered_at}`);
    show('cost', `${session.total.display} for ${session.seconds} seconds`);
    if (session.total.micros !== total.micros) throw new Error(`the charge was ${total.display}`);
    return;
  }
  throw new Error('the usage was not assigned to its session in time');
}

async function waitForCredit(api: Api, key: string, micros: number): Promise<void> {
  for (const until = Date.now() + CREDIT_WITHIN_MS; Date.now() < until; ) {
    const { balance, tenant } = await api.call('GET', '/v1/billing', { key });
    if (balance.micros >= micros) {
      show('balance', `${balance.display} (tenant is ${tenant.status})`);
      return;
    }
    await wait(50);
  }
  throw new Error('the credit did not arrive in time');
}

/**
 * Before the first request: without the sandbox the demo could not pay, and would leave a tenant behind.
 *
 * The sandbox of the service is the one that reports payments to it.
 */
async function requireSandbox(url: string): Promise<void> {
  const sandbox = `http://127.0.0.1:${process.env.SANDBOX_PORT || 8082}`;
  const portOf = (address: string) => new URL(address).port;
  try {
    const answer = await fetch(`${sandbox}/_sandbox/endpoints`, { signal: AbortSignal.timeout(2_000) });
    const endpoints = (await answer.json()) as string[];
    if (endpoints.some((endpoint) => portOf(endpoint) === portOf(url))) return;
  } catch {
    // Nothing answers there, or another program: the same as a sandbox of another service.
  }
  throw new Error(
    `the service at ${url} does not use the sandbox at ${sandbox} for payments, and the demo pays with nothing ` +
      'else. Give the SANDBOX_PORT of the service, or a PORT that is free: the demo then starts its own service',
  );
}

main().catch((error: Error) => {
  process.stderr.write(`\nThe demo failed: ${error.message}\n`);
  process.exit(1);
});
