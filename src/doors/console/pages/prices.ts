/** `/console/prices`: the rate card in effect, and what a room would cost. For everybody. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../base/failure.ts';
import { INITIAL_CARRY } from '../../../money/pricing/carry.ts';
import { CURRENT_RULE, type Terms } from '../../../money/pricing/pricing-rule.ts';
import { ROLE_WORDS, ROLES, type Role, TIER_WORDS, TIERS, type Tier } from '../../../money/pricing/role.ts';
import { priceRoom } from '../../../money/simulation/room-price.ts';
import { LINE_PARTICIPANTS_MAX } from '../../../money/simulation/simulate-room.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { capitalized, exact, type Faults, field, select } from '../../consoles/components.ts';
import { parseChoice } from '../../consoles/fields.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import { table } from '../../consoles/table.ts';
import type { Form } from '../../http/form.ts';
import type { Call } from '../route.ts';

const PATH = '/console/prices';
const MINUTES_MAX = 1_440;
const GIB = 2 ** 30;
const GIB_MAX = 10_000;

const TIER_HEADINGS = TIERS.map((tier) => capitalized(TIER_WORDS[tier]));

export async function showPrices({ deps, query }: Call): Promise<Answer> {
  const card = await deps.rates.shown(deps.db);
  const terms = { rates: card, rule: CURRENT_RULE, rounding: deps.config.billingRounding };
  let estimate: Html | undefined;
  let faults: Faults = {};
  try {
    if (query.has('people')) estimate = renderEstimate(parseAsked(query), terms);
  } catch (error) {
    const found = faultsOf(error);
    if (!found) throw error;
    faults = found;
  }
  const body = html`<h1>Prices</h1>
<p>A participant costs the platform fee on what your relay sent to it, and never more than the ceiling for its role, its tier and its time.</p>
${renderForm(query, faults)}
${estimate}
<h2>Ceiling for 1,000 participant-minutes</h2>
${table(
  'Ceiling for 1,000 participant-minutes',
  ['Role', ...TIER_HEADINGS],
  ROLES.map((role) => [
    capitalized(ROLE_WORDS[role]),
    ...TIERS.map((tier) => exact(card.ceilingPer1000Minutes[role][tier])),
  ]),
  { numbers: TIER_HEADINGS, names: 'Role' },
)}
<p>The platform fee is ${exact(card.platformFeePerGib)} for each GiB. Rate card ${card.version}.</p>`;
  return page({ title: 'Prices', body }, Object.keys(faults).length > 0 ? 400 : 200);
}

interface Asked {
  readonly people: number;
  readonly minutes: number;
  /** To each of them; absent: as much as the ceiling pays for. */
  readonly gib: number | undefined;
  readonly role: Role;
  readonly tier: Tier;
}

function parseAsked(query: Form): Asked {
  const whole = (name: string, max: number) => () => {
    const text = query.get(name)?.trim() ?? '';
    if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > max)
      throw invalidField(name, `must be a whole number from 1 to ${max.toLocaleString('en-US')}`);
    return Number(text);
  };
  return readFields({
    people: whole('people', LINE_PARTICIPANTS_MAX),
    minutes: whole('minutes', MINUTES_MAX),
    gib: () => parseGib(query.get('gib')?.trim() ?? ''),
    role: () => parseChoice('role', query.get('role'), ROLES),
    tier: () => parseChoice('tier', query.get('tier'), TIERS),
  });
}

function parseGib(text: string): number | undefined {
  if (!/^(\d{1,5}(\.\d{1,3})?)?$/.test(text) || Number(text) > GIB_MAX)
    throw invalidField('gib', `must be a number from 0 to ${GIB_MAX.toLocaleString('en-US')}, or empty`);
  return text === '' ? undefined : Number(text);
}

function priceOf({ people, minutes, role, tier }: Asked, egressBytes: bigint, terms: Terms): bigint {
  const all = { count: people, role, tier, seconds: minutes * 60, egressBytes, intervalSeconds: undefined };
  return priceRoom([all], terms, INITIAL_CARRY).amount;
}

/** More than any ceiling pays for. */
const ENDLESS = BigInt(Number.MAX_SAFE_INTEGER);

function renderEstimate(asked: Asked, terms: Terms): Html {
  const most = exact(priceOf(asked, ENDLESS, terms));
  const { gib } = asked;
  if (gib === undefined)
    return html`<p class="note" role="status"><strong>At most ${most}</strong>, however much your relay sends.</p>`;
  const own = exact(priceOf(asked, BigInt(Math.round(gib * GIB)), terms));
  return html`<p class="note" role="status"><strong>${own}</strong> with ${gib} GiB to each of them, and at most ${most}, however much it is.</p>`;
}

function renderForm(query: Form, faults: Faults): Html {
  const given = (name: string, otherwise: string) => query.get(name) ?? otherwise;
  const choices = <T extends string>(all: readonly T[], names: Readonly<Record<T, string>>) =>
    all.map((value) => ({ value, text: names[value] }));
  const number = html`inputmode="decimal" autocomplete="off"`;
  return html`<form class="filters" method="get" action="${PATH}" novalidate>
${field({ name: 'people', label: 'People', value: given('people', '10'), faults, input: number })}
${field({ name: 'minutes', label: 'Minutes of each', value: given('minutes', '60'), faults, input: number })}
${select('role', 'Role', choices(ROLES, ROLE_WORDS), given('role', 'audience'), faults)}
${select('tier', 'Tier', choices(TIERS, TIER_WORDS), given('tier', 'hd'), faults)}
${field({ name: 'gib', label: 'GiB to each', value: query.get('gib'), faults, input: number })}
<button>Estimate</button></form>`;
}
