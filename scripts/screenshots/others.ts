/** The neighbours of Lakeside Theatre, and what operators look after. */
import { Boxoffice } from '../../sdk/typescript/src/backend/index.ts';
import { makeOperatorLink } from '../../src/access/operators/log-in-with-link.ts';
import { parseTenantId } from '../../src/base/tenants/tenant.ts';
import type { Lakeside } from './lakeside.ts';
import { Person, until } from './person.ts';
import type { Stage } from './pictures.ts';
import { OPS_URL, type OwnService } from './service.ts';

const OPERATOR = { kind: 'operator', id: 'grace' } as const;
const GOOD_CARD = '4242424242424242';
const DECLINES_LATER = '4000000000000341';

interface Neighbour {
  readonly name: string;
  readonly card?: string;
}

const NEIGHBOURS: readonly Neighbour[] = [
  { name: 'Harbour Radio', card: GOOD_CARD },
  { name: 'Alpine Yoga', card: DECLINES_LATER },
  { name: 'Meridian Conferences', card: GOOD_CARD },
  { name: 'Northgate Tutors' },
  { name: 'Debate League', card: GOOD_CARD },
];

export interface Operators {
  readonly operator: Person;
  readonly stage: Pick<Stage, 'operatorLink' | 'parked'>;
}

const GRANTS: readonly (readonly [dollars: string, reason: string, days: number])[] = [
  ['20', 'The partner programme of the summer', 60],
  ['5', 'A month to try it', 30],
];

export async function makeOthers(
  own: OwnService,
  lakeside: Lakeside,
  say: (text: string) => void,
): Promise<Operators> {
  const { db } = own.service.deps;
  const operator = new Person(own.opsUrl, OPS_URL);
  await operator.send(pathOf(await makeOperatorLink(db, OPERATOR, OPS_URL)));

  say('Its neighbours sign up, and one card is declined');
  const tenants: Record<string, string> = {};
  for (const [at, each] of NEIGHBOURS.entries()) {
    tenants[each.name] = await makeNeighbour(own, each, `198.51.100.${at + 1}`);
  }
  await operator.send(`/console/tenants/${tenants['Debate League']}/status`, {
    status: 'suspended',
    reason: 'The league asked for a pause until spring',
    confirm: '',
  });

  say('Operators: a dispute, a warning, a conflict, a gift, a verification');
  await operator.send(`/console/tenants/${lakeside.id}/limits`, {
    ...(await limitsOf(operator, lakeside.id)),
    rooms: '200',
    reason: 'The summer festival',
  });
  await operator.send(`/console/tenants/${lakeside.id}/credit`, {
    form: crypto.randomUUID(),
    dollars: '25',
    reason: 'Goodwill after the outage of Monday',
    reviewed: 'yes',
  });
  for (const [dollars, reason, days] of GRANTS) {
    await operator.send(`/console/tenants/${lakeside.id}/grants`, {
      form: crypto.randomUUID(),
      dollars,
      reason,
      expires: new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
    });
  }
  await lakeside.relay.usage.report([
    {
      id: lakeside.stage.record,
      room: 'rehearsal-1',
      participant: 'prospero',
      role: 'host',
      tier: 'hd',
      seconds: 60,
      egressBytes: 1_000_000,
      ingressBytes: 0,
    },
  ]);
  const parked = await park(own, lakeside.id);
  await operator.send('/console/verify');
  await until('the verification', async () =>
    /data-again/.test(await operator.read('/console/verify')) ? undefined : true,
  );
  const operatorLink = pathOf(await makeOperatorLink(db, OPERATOR, OPS_URL));
  return { operator, stage: { operatorLink, parked } };
}

async function makeNeighbour(own: OwnService, { name, card }: Neighbour, address: string): Promise<string> {
  const email = `hello@${name.toLowerCase().replaceAll(' ', '-')}.example.com`;
  const made = await signUp(own, { email, name }, address);
  if (card === undefined) return made.tenant;
  const { control } = own.sandbox;
  const [session] = /cs_test_\w+/.exec(made.checkoutUrl)!;
  const { id: payment } = control.pay(session, { card, email });
  await control.idle();
  const clients = { url: own.url, controlUrl: own.controlUrl };
  const client = new Boxoffice({ ...clients, apiKey: made.apiKey });
  const { apiKey } = await client.keys.create({ name: 'Relay', kind: 'relay' });
  if (card === DECLINES_LATER) {
    await client.billing.setAutoTopUp({ enabled: true, belowCents: 1_950, amountCents: 5_000 });
  }
  const relay = new Boxoffice({ ...clients, apiKey });
  await relay.usage.report(
    Array.from({ length: 30 }, (_, at) => ({
      id: `on-air.${at}`,
      room: 'studio',
      participant: `listener-${at}`,
      role: 'audience' as const,
      tier: 'full_hd' as const,
      seconds: 5_400,
      egressBytes: 6_000_000_000,
      ingressBytes: 0,
    })),
  );
  if (name === 'Meridian Conferences') control.dispute(payment);
  if (name === 'Harbour Radio') control.warnOfFraud(payment);
  await control.idle();
  client.close();
  relay.close();
  return made.tenant;
}

/** Each from an address of its own: one address may sign up a few times only. */
async function signUp({ url }: OwnService, body: { email: string; name: string }, address: string) {
  const answer = await fetch(`${url}/v1/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(body),
  });
  const made = (await answer.json()) as { tenant: string; api_key: string; checkout_url: string };
  return { tenant: made.tenant, apiKey: made.api_key, checkoutUrl: made.checkout_url };
}

/** What the form has now, since it sends all limits. */
async function limitsOf(operator: Person, tenant: string): Promise<Record<string, string>> {
  const page = await operator.read(`/console/tenants/${tenant}/limits`);
  return Object.fromEntries(
    [...page.matchAll(/<input id="([a-z_]+)" name="\1" value="([^"]*)"/g)].map(([, name, value]) => [
      name!,
      value!,
    ]),
  );
}

/** Parked notifications are rare: this one is put into the table. */
async function park({ owner }: OwnService, tenant: string): Promise<string> {
  const id = 'evt_1QLakesideParked';
  await owner.query(
    `insert into provider_events (id, type, outcome, reason, tenant_id, payment_id)
     values ($1, 'payment_intent.succeeded', 'parked', 'the amount differs from that of the checkout', $2, 'pi_3QLakeside')`,
    [id, parseTenantId(tenant)!],
  );
  return id;
}

function pathOf(address: string): string {
  return new URL(address).pathname;
}
