/** `/console/rates`: the rate card in effect, the earlier ones, and a draft of the next one: simulated, then loaded. */
import { type Html, html } from '@boxoffice/pages/html';
import { operatorOf } from '../../../../access/operators/operator-session.ts';
import { Failure } from '../../../../base/failure.ts';
import {
  isPrice,
  MARKUP_MAX,
  parseRateCard,
  type RateCardFile,
} from '../../../../money/pricing/rate-card.ts';
import { getRateCard, listRateCards, loadDraft } from '../../../../money/pricing/rate-cards.ts';
import {
  ROLE_WORDS,
  ROLES,
  type Role,
  TIER_WORDS,
  TIERS,
  type Tier,
} from '../../../../money/pricing/role.ts';
import { addUp, type ComparedTenant, type Comparison } from '../../../../money/simulation/simulate-card.ts';
import { simulatePeriod } from '../../../../money/simulation/simulate-period.ts';
import { type Answer, done, type Page, page } from '../../../consoles/answer.ts';
import {
  alert,
  badge,
  capitalized,
  emptyState,
  exact,
  type Faults,
  field,
  timeOf,
} from '../../../consoles/components.ts';
import { faultsOf, orWrong, readFields } from '../../../consoles/read-fields.ts';
import { table } from '../../../consoles/table.ts';
import type { Form } from '../../../http/form.ts';
import { parseTime } from '../../../http/period.ts';
import { parseTenantFilter } from '../fields.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantLink } from '../tenant-link.ts';

/** More would keep the browser waiting; the command line has no such limit. */
const RECORDS_MAX = 1_000_000n;

/** What must be typed to load a card. */
const LOAD = 'load';

const SINGLE = {
  egress_cost_per_gib: 'Cost of a GiB sent, in dollars',
  markup_basis_points: 'Markup, in basis points',
  platform_fee_per_gib: 'Platform fee for a GiB, in dollars',
} as const;
const MARKUP = 'markup_basis_points';
const PRICE_HINT = 'Dollars, such as 0.60: up to six digits before the point and after it.';
const MARKUP_HINT = `A whole number from 0 to ${MARKUP_MAX.toLocaleString('en-US')}: 1500 is 15%.`;
const WRONG_PRICE = 'Give dollars with up to six digits before the point and after it, such as 0.60.';
const WRONG_MARKUP = `Give a whole number from 0 to ${MARKUP_MAX.toLocaleString('en-US')}, such as 1500 for 15%.`;
const WRONG_DAY = 'Choose a day, such as 2026-11-01.';
const WRONG_ORDER = 'Choose an earlier day: it must be before the other one.';
const UNKNOWN_TENANT = 'No tenant has this id.';
const WRONG_TENANT = 'Give the id of a tenant, t_ and 16 hex digits, or leave it empty for all.';
const ceilingName = (role: string, tier: string) => `${role}_${tier}`;
const ceilingLabel = (role: Role, tier: Tier) =>
  `At most for 1,000 minutes: ${ROLE_WORDS[role]}, ${TIER_WORDS[tier]}`;

/** The fields in the form of a card. */
export const CARD_FIELDS: readonly string[] = [
  ...Object.keys(SINGLE),
  ...ROLES.flatMap((role) => TIERS.map((tier) => ceilingName(role, tier))),
];

export async function showRates({ deps }: LoggedInCall): Promise<Answer> {
  const cards = await listRateCards(deps.db);
  return page(ratesPage(cards, fieldsOf(cards[0].card), {}, {}, undefined));
}

/** The prices of the card in effect, as text. */
async function cardNow(db: LoggedInCall['deps']['db']): Promise<Form> {
  return fieldsOf((await getRateCard(db)).card);
}

type Cards = Awaited<ReturnType<typeof listRateCards>>;

/** The fields of the form, as text. */
function fieldsOf(card: RateCardFile): Form {
  const ceilings = card.ceiling_per_1000_participant_minutes;
  return new Map([
    ['egress_cost_per_gib', card.egress_cost_per_gib],
    ['markup_basis_points', String(card.markup_basis_points)],
    ['platform_fee_per_gib', card.platform_fee_per_gib],
    ...ROLES.flatMap((role) => TIERS.map((tier) => [ceilingName(role, tier), ceilings[role][tier]] as const)),
  ]);
}

/** The card in a form. Fails with `WrongFields`. */
function readCard(form: Form): RateCardFile {
  const readPrice = (name: string) => () => {
    const text = textOf(form, name);
    if (name === MARKUP) return orWrong(isMarkup(text), WRONG_MARKUP);
    return orWrong(isPrice(text), WRONG_PRICE);
  };
  readFields(Object.fromEntries(CARD_FIELDS.map((name) => [name, readPrice(name)])));
  return cardOf(form);
}

const textOf = (form: Form, name: string) => (form.get(name) ?? '').trim();
const isMarkup = (text: string) => /^\d{1,7}$/.test(text) && Number(text) <= MARKUP_MAX;

/** The card in a form whose prices were read. */
function cardOf(form: Form): RateCardFile {
  return {
    currency: 'usd',
    egress_cost_per_gib: textOf(form, 'egress_cost_per_gib'),
    markup_basis_points: Number(textOf(form, MARKUP)),
    platform_fee_per_gib: textOf(form, 'platform_fee_per_gib'),
    ceiling_per_1000_participant_minutes: Object.fromEntries(
      ROLES.map((role) => [
        role,
        Object.fromEntries(TIERS.map((tier) => [tier, textOf(form, ceilingName(role, tier))])),
      ]),
    ) as RateCardFile['ceiling_per_1000_participant_minutes'],
  };
}

/** What the usage of a period would have cost. Nothing is changed. */
export async function submitSimulation(call: LoggedInCall): Promise<Answer> {
  const { deps, form } = call;
  try {
    return page(simulationPage(form, await simulate(call), await cardNow(deps.db)));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const faults = faultsOf(error);
    if (faults) return wrongDraft(deps, form, faults);
    if (error.kind === 'not_found') return wrongDraft(deps, form, { tenant: UNKNOWN_TENANT });
    if (error.kind !== 'invalid_request') throw error;
    return wrongDraft(deps, form, {}, error.message);
  }
}

async function wrongDraft(
  { db }: LoggedInCall['deps'],
  form: Form,
  faults: Faults,
  message?: string,
): Promise<Answer> {
  return page(ratesPage(await listRateCards(db), form, periodOf(form), faults, message), 400);
}

/** The card, the period and the tenant in a form. Fails with `WrongFields`. */
function readSimulation(form: Form) {
  const readDay = (name: string) => () =>
    orWrong(
      unlessInvalid(() => parseTime(name, textOf(form, name) || undefined)),
      WRONG_DAY,
    );
  return readFields(
    {
      card: () => readCard(form),
      from: readDay('from'),
      to: readDay('to'),
      tenant: () =>
        textOf(form, 'tenant') === ''
          ? undefined
          : orWrong(
              unlessInvalid(() => parseTenantFilter(form)),
              WRONG_TENANT,
            ),
    },
    { from: ({ from, to }) => orWrong(!from || !to || from < to, WRONG_ORDER) },
  );
}

/** `undefined` if it fails with `invalid_request`. */
function unlessInvalid<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Failure && error.kind === 'invalid_request') return undefined;
    throw error;
  }
}

async function simulate({ deps, form }: LoggedInCall): Promise<readonly ComparedTenant[]> {
  const { card, ...period } = readSimulation(form);
  return simulatePeriod(deps.db, {
    card: parseRateCard(card),
    period,
    rounding: deps.config.billingRounding,
    recordsMax: RECORDS_MAX,
    instead: 'choose a shorter one or one tenant, or run npm run admin -- rates simulate',
  });
}

type Given = { readonly from?: string; readonly to?: string; readonly tenant?: string };

function periodOf(form: Form): Given {
  return Object.fromEntries(
    ['from', 'to', 'tenant'].flatMap((name) => {
      const text = form.get(name)?.trim();
      return text ? [[name, text]] : [];
    }),
  );
}

/** Make the draft the card that prices from now on. */
export async function submitCard({ deps, form, session }: LoggedInCall): Promise<Answer> {
  let card: RateCardFile;
  try {
    card = readCard(form);
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return wrongDraft(deps, form, faults);
  }
  if ((form.get('confirm') ?? '').trim() !== LOAD) {
    const faults = { confirm: `Type the word ${LOAD}.` };
    const body = html`<h1>Nothing was loaded</h1>${loadForm(form, await cardNow(deps.db), faults)}`;
    return page({ title: 'Nothing was loaded', body }, 400);
  }
  await loadDraft(deps.db, operatorOf(session), card);
  return done('/console/rates', 'The card is loaded: it prices from now on.');
}

function ratesPage(
  cards: Cards,
  draft: Form,
  { from, to, tenant }: Given,
  faults: Faults,
  message: string | undefined,
): Page {
  const [newest] = cards;
  const body = html`<h1>Rates</h1>
<p>Version ${newest.version} prices since ${timeOf(newest.effectiveAt)}.</p>
${alert(message)}
<section class="card"><h2>A draft of the next card</h2>
<p>Change prices, and look at what the usage of a period would have cost. Nothing is changed until you load the draft.</p>
<form method="post" action="/console/rates/simulate" novalidate>
${Object.entries(SINGLE).map(([name, label]) => field({ name, label, value: draft.get(name), hint: name === MARKUP ? MARKUP_HINT : PRICE_HINT, faults, input: html`inputmode="decimal" required` }))}
${renderCeilings(draft, faults)}
<div class="filters">
${field({ name: 'from', label: 'Usage from (UTC)', value: from, faults, input: html`type="date" required` })}
${field({ name: 'to', label: 'Before (UTC)', value: to, faults, input: html`type="date" required` })}
${field({ name: 'tenant', label: 'Only of the tenant', value: tenant, faults })}
</div>
<p><button class="primary">Simulate</button></p></form></section>
<h2>All cards</h2>
${table(
  'Rate cards, the newest first',
  ['Version', 'Since', 'Platform fee for a GiB'],
  cards.map(({ version, effectiveAt, card }) => [
    version,
    timeOf(effectiveAt),
    exact(parseRateCard(card).platformFeePerGib),
  ]),
  { numbers: ['Platform fee for a GiB'] },
)}`;
  return { title: 'Rates', body };
}

function renderCeilings(draft: Form, faults: Faults): Html {
  return html`<h2>At most, for 1,000 participant minutes, in dollars</h2>
<p class="hint">${PRICE_HINT}</p>
${ROLES.map(
  (role) =>
    html`<fieldset><legend>${capitalized(ROLE_WORDS[role])}</legend><div class="filters">${TIERS.map((tier) =>
      field({
        name: ceilingName(role, tier),
        label: capitalized(TIER_WORDS[tier]),
        value: draft.get(ceilingName(role, tier)),
        faults,
        input: html`inputmode="decimal" required`,
      }),
    )}</div></fieldset>`,
)}`;
}

function simulationPage(form: Form, tenants: readonly ComparedTenant[], now: Form): Page {
  const charged = tenants.filter((each) => each.charged.records > 0);
  const unbilled = tenants.filter((each) => each.unbilled.records > 0);
  const body = html`<h1>What the draft would have charged</h1>
${
  charged.length === 0
    ? emptyState('No usage was charged in this period.', 'Choose another one.')
    : renderComparisons('Charged usage', charged, 'charged')
}
${
  unbilled.length > 0 &&
  html`<h2>Accepted and not charged, because the tenants were exempt</h2>
${renderComparisons('Usage that was not charged', unbilled, 'unbilled')}`
}
${loadForm(form, now, {})}`;
  return { title: 'A simulation', body };
}

/** The draft is in the form, so that what is loaded is what was simulated. */
function loadForm(form: Form, now: Form, faults: Faults): Html {
  return html`<section class="card"><h2>Load the draft</h2>
<p>It prices all usage from now on. Charges of the past stay as they are.</p>
${renderPrices(form, now)}
<form method="post" action="/console/rates/load" novalidate>
${CARD_FIELDS.map((name) => html`<input type="hidden" name="${name}" value="${form.get(name) ?? ''}">`)}
${field({ name: 'confirm', label: `To load it, type: ${LOAD}`, faults, input: html`autocomplete="off"` })}
<p><button class="danger">Load the draft</button></p></form></section>
<p><a href="/console/rates">Back to the rates</a></p>`;
}

/** Each price of the draft, beside the one that it replaces. */
function renderPrices(form: Form, now: Form): Html {
  const labels: Form = new Map([
    ...Object.entries(SINGLE),
    ...ROLES.flatMap((role) =>
      TIERS.map((tier) => [ceilingName(role, tier), ceilingLabel(role, tier)] as const),
    ),
  ]);
  const rows = CARD_FIELDS.map((name) => {
    const [was, is] = [textOf(now, name), textOf(form, name)];
    return [
      labels.get(name),
      was,
      Number(was) === Number(is) ? is : html`<strong>${is}</strong> ${badge('new', 'warn')}`,
    ];
  });
  return table('The prices of the draft', ['Price', 'Now', 'Draft'], rows, { numbers: ['Now', 'Draft'] });
}

function renderComparisons(
  label: string,
  tenants: readonly ComparedTenant[],
  which: 'charged' | 'unbilled',
): Html {
  const cells = ({ records, actual, simulated }: Comparison) => [
    records,
    exact(actual),
    exact(simulated),
    exact(simulated - actual),
  ];
  return table(
    label,
    ['Tenant', 'Records', 'As it was', 'With the draft', 'Difference'],
    [
      ...tenants.map((each) => [tenantLink(each.tenant), ...cells(each[which])]),
      ['all', ...cells(addUp(tenants.map((each) => each[which])))],
    ],
    { numbers: ['Records', 'As it was', 'With the draft', 'Difference'] },
  );
}
