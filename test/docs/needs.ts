/** What commands of the pages need before they begin, by the words of their notes (`<!-- needs: ... -->`). */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { BUILT_IN_RATES } from '../../src/money/pricing/rate-card.ts';
import { loadRates } from '../../src/money/pricing/rate-cards.ts';
import { createCredential, deviceKey, join } from '../support/devices.ts';
import { moveInTime, post } from '../support/months.ts';
import type { TestTenant } from '../support/service.ts';
import { idOf, OPERATOR } from '../support/tenants.ts';
import { readBlocks } from './blocks.ts';
import { type Scene, withDates } from './scene.ts';

/** Makes it, and returns what stands for it in commands, or `''`. `shown` is what the page has in its place. */
type Provide = (scene: Scene, shown: string) => Promise<string>;

const NEEDS: Readonly<Record<string, Provide>> = {
  // `commands.test.ts` starts it.
  'a service of its own': async () => '',
  'the payment': payNewestCheckout,
  'the sessions of step five': (scene) => findSession(scene, (session) => session.records === 2, 'id'),
  'a tenant': async (scene) => scene.become(await scene.app.paidTenant()),
  'a session': (scene) => enterStage(scene).then(() => findSession(scene, isOnStage, 'id')),
  'its room': (scene) => findSession(scene, isOnStage, 'room_uid'),
  'a device': showDevice,
  'a key': async ({ tenant }) => tenant.keyId,
  'a webhook': createWebhook,
  'two revoked keys': revokeKeys,
  'an exemption': async (scene) => scene.operate('tenants', 'exempt', scene.tenant.id),
  'a record': async (scene, shown) => spend(scene, scene.tenant, [{ id: shown, micros: 1_000 }]),
  'usage in an hour': spendInAnHour,
  'a grant that is partly spent': spendGrant,
  'an unpaid tenant': async (scene) => scene.become(await scene.app.signUp()),
  'a payment': async (scene) => (await scene.app.pay(scene.tenant)).payment,
  'a checkout': openCheckout,
  'a dispute': openDispute,
  'a lost dispute': async (scene) => {
    const dispute = await openDispute(scene);
    scene.app.sandbox.control.loseDispute(dispute);
    return `${dispute}/appeal`;
  },
  'a card': saveCard,
  events: makeEvents,
  'a statement': endMonth,
  'a refused batch': refuseBatch,
  'the rates of the file': writeRates,
  'usage of yesterday': useYesterday,
  'usage at a wrong price': useAtWrongPrice,
  'a month with a refund': refundInMonth,
  'a payout': payOut,
  'three tenants': signUpThree,
};

/** Make what the note of a block lists: `a payment pi_..., a card`. */
export async function supply(scene: Scene, needs: string): Promise<void> {
  for (const need of needs.split(', ')) {
    const [, name = '', shown] = /^([a-z ]+?)(?: (\S*[^a-z\s]\S*))?$/.exec(need) ?? [];
    const provide = NEEDS[name];
    if (!provide) throw new Error(`nothing supplies "${need}"`);
    if (shown === undefined) await provide(scene, '');
    // What is cut stands for another one wherever it is.
    else if (shown.endsWith('...')) scene.stand(shown, () => provide(scene, shown));
    else scene.stand(shown, await provide(scene, shown));
  }
}

const RELAY = { name: 'a relay', kind: 'relay' };

async function payNewestCheckout({ app, exchanges }: Scene): Promise<string> {
  const [session] = /cs_test_\w+/.exec(exchanges.findLast(({ text }) => text.includes('cs_test_'))!.text)!;
  app.sandbox.control.pay(session!, { card: '4242424242424242' });
  await app.settled();
  return '';
}

type SessionMember = 'id' | 'room_uid';
type Session = Readonly<Record<SessionMember | 'room', string>> & { readonly records: number };
const isOnStage = ({ room }: Session) => room === 'stage';

/** A listener opens sessions, a moment after a device has entered. */
async function findSession(
  scene: Scene,
  isMeant: (session: Session) => boolean,
  member: SessionMember,
): Promise<string> {
  let found: Session | undefined;
  await expect
    .poll(async () => {
      const { sessions } = JSON.parse(await scene.request('GET', '/v1/sessions'));
      found = sessions.find(isMeant);
      return found;
    })
    .toBeDefined();
  return found![member];
}

async function enterStage({ app, tenant }: Scene): Promise<void> {
  const { credential } = await createCredential(app, tenant);
  const answer = await join(app, credential, { room: 'stage' });
  expect(answer.status, answer.text).toBe(200);
}

/** Its credential in a variable, and its key in place of one that is cut. */
async function showDevice(scene: Scene): Promise<string> {
  const { credential } = await createCredential(scene.app, scene.tenant, { rooms: ['demo-*', 'stage'] });
  scene.set('CREDENTIAL', credential);
  scene.set('DEVICE_CREDENTIAL', credential);
  const { x, y } = deviceKey();
  scene.stand('"x":"...","y":"..."', `"x":"${x}","y":"${y}"`);
  return credential;
}

async function createWebhook(scene: Scene): Promise<string> {
  const url = 'https://app.example.com/hooks/boxoffice';
  const { webhook } = JSON.parse(
    await scene.request('POST', '/v1/webhooks', { body: { url, types: ['balance_low'] } }),
  );
  scene.set('ID', webhook.id);
  return webhook.id;
}

async function revokeKeys(scene: Scene): Promise<string> {
  for (let count = 0; count < 2; count += 1) {
    const { key } = JSON.parse(await scene.request('POST', '/v1/keys', { body: RELAY }));
    await scene.request('DELETE', `/v1/keys/${key.id}`);
  }
  return '';
}

/** More than the number of the last one that a page has seen. It waits for the next ones no longer than it must. */
async function makeEvents(scene: Scene): Promise<string> {
  for (let count = 0; count < 45; count += 1) await scene.request('POST', '/v1/keys', { body: RELAY });
  scene.stand('wait_seconds=20', 'wait_seconds=1');
  return '';
}

interface Spending {
  readonly micros: number;
  readonly id?: string;
  readonly room?: string;
}

let records = 0;

/** Usage that costs so much at the built-in rates. One batch. */
async function spend({ app }: Scene, tenant: TestTenant, spendings: readonly Spending[]): Promise<string> {
  const batch = spendings.map(({ micros, room = 'stage', id }) => {
    records += 1;
    const gib = micros / 20_000;
    return {
      id: id ?? `relay-1.boot-1.s${records}.i1`,
      ...{ room, participant: 'ann', role: 'host', tier: '2k_plus', seconds: 86_400 },
      ...{ egress_bytes: Math.round(gib * 2 ** 30), ingress_bytes: 1_000_000 },
    };
  });
  await report(tenant, batch, app);
  return spendings[0]?.id ?? '';
}

async function report(tenant: TestTenant, batch: readonly object[], app: Scene['app']): Promise<void> {
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: batch } });
  expect(answer.status, answer.text).toBe(200);
}

async function spendInAnHour(scene: Scene): Promise<string> {
  scene.become(await scene.app.paidTenant({ cents: 1000 }));
  return await spend(scene, scene.tenant, [
    { micros: 201_166, room: 'stage' },
    { micros: 50_291, room: 'lobby' },
  ]);
}

async function spendGrant(scene: Scene): Promise<string> {
  const reason = ['--reason', 'a month to try it', '--expires', withDates('2026-12-01')];
  await scene.operate('credit', 'grant', scene.tenant.id, '20', ...reason);
  return await spend(scene, scene.tenant, [{ micros: 7_500_000 }]);
}

async function openCheckout({ app, tenant }: Scene): Promise<string> {
  const body = { amount_cents: 2000 };
  const answer = await app.request('POST', '/v1/billing/checkout', { key: tenant.key, body });
  return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
}

async function openDispute({ app, tenant }: Scene): Promise<string> {
  const { payment } = await app.pay(tenant);
  return app.sandbox.control.dispute(payment).id;
}

async function saveCard({ app, tenant }: Scene): Promise<string> {
  const { payment } = await app.pay(tenant);
  return String((await app.stripe.paymentIntents.retrieve(payment)).payment_method);
}

/** Its record has no tier. */
async function refuseBatch({ app, tenant, exchanges }: Scene): Promise<string> {
  const body = { records: [{ id: 'a', role: 'host', seconds: 60, egress_bytes: 0, ingress_bytes: 0 }] };
  const { status, text } = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body });
  expect(status).toBe(400);
  exchanges.push({ method: 'POST', path: '/v1/usage', status, text });
  return '';
}

/** The card that `docs/money-procedures.md` shows. */
async function writeRates({ folder }: Scene): Promise<string> {
  const [card] = readBlocks('docs/money-procedures.md').filter(({ notes }) => notes.file === 'rates.json');
  await writeFile(`${folder}/rates.json`, card!.text);
  return '';
}

const DAY_MS = 86_400_000;

/** Last month, as the CSV of the page has it. */
async function endMonth(scene: Scene): Promise<string> {
  const { app } = scene;
  const { db } = app.service.deps;
  scene.become(await app.signUp());
  const tenant = idOf(scene.tenant);
  const paymentId = 'pi_JSQJ';
  await post(db, tenant, { kind: 'top_up', amount: 20_000_000n, reference: paymentId, paymentId });
  await post(db, tenant, { kind: 'refund', amount: -5_000_000n, reference: 're_81Hx', paymentId });
  await spend(scene, scene.tenant, [{ micros: 1_060_000, room: 'stage' }]);
  await spend(scene, scene.tenant, [{ micros: 150_000, room: 'lobby' }]);
  const month = withDates('2026-10');
  const times = ['03T08:11:54.120Z', '20T09:30:00.500Z', '25T10:00:00.000Z', '25T11:00:00.000Z'];
  await moveInTime(
    db,
    tenant,
    times.map((time) => `${month}-${time}`),
  );
  return '';
}

/** The batches of tenants that paid the day before are charged in the middle of yesterday. Reports go by their ids. */
async function useOn(scene: Scene, batches: readonly (readonly object[])[], isExempt = false): Promise<void> {
  const { app } = scene;
  const { db } = app.service.deps;
  const tenants = await Promise.all(batches.map(() => app.signUp()));
  tenants.sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
  const times = [noon - DAY_MS, noon].map((time) => new Date(time).toISOString());
  for (const [index, batch] of batches.entries()) {
    const tenant = tenants[index]!;
    const payment = { reference: `pi_${tenant.keyId}`, paymentId: `pi_${tenant.keyId}` };
    await post(db, idOf(tenant), { kind: 'top_up', amount: 20_000_000n, ...payment });
    if (isExempt) await scene.operate('tenants', 'exempt', tenant.id);
    await report(tenant, batch, app);
    await moveInTime(db, idOf(tenant), times);
  }
}

const ANN = { room: 'demo-1', participant: 'ann', role: 'audience', ingress_bytes: 0 };
/** The batch of README, $0.025155, and what the other tenant used more: the last record costs its ceiling. */
const BATCH = [
  { ...ANN, id: 'i1', tier: 'full_hd', seconds: 3600, egress_bytes: 1_350_000_000 },
  { ...ANN, id: 'i2', tier: 'audio', seconds: 60, egress_bytes: 480_000 },
];
const MORE = [
  { ...ANN, id: 'i3', tier: 'full_hd', seconds: 3600, egress_bytes: 337_477_055 },
  { ...ANN, id: 'i4', tier: 'audio', seconds: 160, egress_bytes: 48_000_000 },
];

async function useYesterday(scene: Scene): Promise<string> {
  await useOn(scene, [[...BATCH, ...MORE], BATCH]);
  await useOn(scene, [[BATCH[0]!, { ...BATCH[0], id: 'i5', egress_bytes: 675_000_000 }]], true);
  return '';
}

/** Version 2 of the card was too dear, and version 3 has the prices of before. */
async function useAtWrongPrice(scene: Scene): Promise<string> {
  const { db } = scene.app.service.deps;
  await loadRates(db, OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: '0.025' });
  await useOn(scene, [[...BATCH, ...MORE], BATCH]);
  await loadRates(db, OPERATOR, BUILT_IN_RATES, { again: true });
  return '';
}

async function refundInMonth(scene: Scene): Promise<string> {
  const { app } = scene;
  const tenant = await app.paidTenant({ cents: 8000 });
  await spend(scene, tenant, [{ micros: 1_800_000 }]);
  const refund = { kind: 'refund', amount: -4_618_937n, reference: 're_81Hx', paymentId: 'pi_JSQJ' } as const;
  await post(app.service.deps.db, idOf(tenant), refund);
  return '';
}

/** What the provider pays out, and a payment that came after it. */
async function payOut({ app }: Scene): Promise<string> {
  const tenant = await app.signUp();
  const { payment } = await app.pay(tenant);
  await app.pay(tenant, { cents: 5578 });
  app.sandbox.control.refund(payment, { amount: 500 });
  await app.settled();
  app.sandbox.control.payOut({});
  await app.pay(tenant, { cents: 1083 });
  return '';
}

/** The last one has used an id twice, and the other has paid a top-up that the database does not have. */
async function signUpThree(scene: Scene): Promise<string> {
  const { app } = scene;
  const make = async (name: string, email: string, cents: number, micros: number) => {
    const tenant = await app.signUp({ name, email });
    await app.pay(tenant, { cents });
    await spend(scene, tenant, [{ micros }]);
    return tenant;
  };
  await make('My first tenant', 'you@example.com', 13_700, 40_242);
  const demo = await make('Demo tenant', 'demo@example.com', 7_000, 88_019);
  const second = await make('Second', 'two@example.com', 4_000, 3_371);
  for (const seconds of [60, 61]) {
    await report(
      second,
      [{ id: 'same', role: 'host', tier: 'hd', seconds, egress_bytes: 0, ingress_bytes: 0 }],
      app,
    );
  }
  await app.stripe.paymentIntents.create({
    ...{ amount: 3000, currency: 'usd', payment_method: 'pm_card_visa', confirm: true },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    metadata: { tenant: demo.id, attempt: `tu_${'0'.repeat(32)}` },
  });
  await app.settled();
  return '';
}
