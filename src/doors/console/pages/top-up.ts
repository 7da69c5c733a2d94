/** `/console/top-up`: charge the saved card whenever the balance falls below a threshold. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { actorOf, untrustedKeyOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { microsOfCents } from '../../../money/amount.ts';
import { type Billing, getBilling } from '../../../money/payments/get-billing.ts';
import { describeTopUpError, type PaymentSettings } from '../../../money/payments/payment-settings.ts';
import { getTopUpUnderWay, type TopUpUnderWay } from '../../../money/top-ups/get-top-up-under-way.ts';
import { requestTopUpNow } from '../../../money/top-ups/request-top-up.ts';
import { setAutoTopUp } from '../../../money/top-ups/set-auto-top-up.ts';
import type { AutoTopUp } from '../../../money/top-ups/top-up-amount.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import {
  alert,
  badge,
  capitalized,
  checkbox,
  dollars,
  emptyState,
  exact,
  type Faults,
  field,
  freshNote,
  timeOf,
} from '../../consoles/components.ts';
import { parseDollars } from '../../consoles/fields.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';
import { parseAmount, payForm, RANGE } from './pay.ts';

const PATH = '/console/top-up';

export async function showTopUp(call: SessionCall): Promise<Answer> {
  return topUpPage(call, call.form.size > 0 ? call.form : undefined, {});
}

export async function submitTopUp(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  try {
    const wanted = parseTopUp(form);
    const setter = { actor: actorOf(session, address), untrustedKey: untrustedKeyOf(session) };
    await inTransaction(deps.db, (tx) => setAutoTopUp(tx, setter, session.tenant, wanted));
    deps.events.wake(session.tenant);
    return done(PATH, `Automatic top-up is ${wanted.enabled ? 'on' : 'off'}.`);
  } catch (error) {
    const faults = faultsOf(error, ['below', 'amount']);
    if (!faults) throw error;
    return topUpPage(call, form, faults, 400);
  }
}

/** The next charge would request it as well. */
export async function submitTopUpNow({ deps, session, address }: SessionCall): Promise<Answer> {
  const actor = actorOf(session, address);
  const isRequested = await inTransaction(deps.db, (tx) => requestTopUpNow(tx, actor, session.tenant));
  if (isRequested) {
    deps.wakeTopUps();
    return done(PATH, 'A top-up is requested.');
  }
  const underWay = await getTopUpUnderWay(deps.db, session.tenant);
  return done(
    PATH,
    underWay
      ? `A top-up of ${dollars(underWay.amount)} is under way already, so the card is not charged once more.`
      : 'No top-up is requested: none is due, or none may run now.',
  );
}

function parseTopUp(form: Form): AutoTopUp {
  const enabled = form.has('enabled');
  // When it is turned off, an empty field keeps its amount.
  const given = (name: string) => enabled || (form.get(name) ?? '').trim() !== '';
  const { below, amount } = readFields({
    below: () => (given('below') ? microsOfCents(parseDollars('below', form.get('below'))) : null),
    amount: () =>
      given('amount') ? microsOfCents(parseAmount('amount', form.get('amount'), enabled)) : null,
  });
  return { enabled, below, amount };
}

/** `the Visa card that ends in 4242`. */
export function nameCard({ cardBrand, cardLast4 }: PaymentSettings): string {
  if (cardBrand === null || cardLast4 === null) return 'the saved card';
  return `the ${capitalized(cardBrand)} card that ends in ${cardLast4}`;
}

function renderUnderWay({ amount, createdAt }: TopUpUnderWay): Html {
  return html`<p class="note"><strong>A top-up of ${dollars(amount)} is under way</strong> since ${timeOf(createdAt)}. The balance grows once it is paid.</p>`;
}

/** The balance is below the threshold, and usage has not requested a top-up yet. */
function renderDue(
  { session }: SessionCall,
  { settings, balance }: Pick<Billing, 'settings' | 'balance'>,
): Html {
  return html`<div class="note"><p>The balance of ${exact(balance)} is below that already. The next usage requests a top-up.</p>
${
  mayDo(session.role, 'pay') &&
  session.isFresh &&
  html`<form class="inline" method="post" action="${PATH}/now"><button>Charge ${dollars(settings.topUpAmount)} now</button></form>`
}</div>`;
}

async function topUpPage(
  call: SessionCall,
  typed: Form | undefined,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  const { deps, session } = call;
  const { settings, balance } = await getBilling(deps.db, session.tenant);
  const underWay = await getTopUpUnderWay(deps.db, session.tenant);
  const problem = describeTopUpError(settings);
  const isDue = settings.topUpEnabled && balance < settings.topUpBelow && problem === null;
  const hasCard = settings.paymentMethodId !== null;
  const mayChange = mayDo(session.role, 'pay');
  const amountOf = (name: string, micros: bigint) =>
    typed ? (typed.get(name) ?? '') : dollars(micros).replace(/[$,]/g, '');
  const body = html`<h1>Automatic top-up</h1>
${alert(problem ?? undefined)}
<p>${
    settings.topUpEnabled
      ? html`${badge('on', 'good')} Below <strong>${dollars(settings.topUpBelow)}</strong>, ${nameCard(settings)} pays
<strong>${dollars(settings.topUpAmount)}</strong>.`
      : html`${badge('off')} When the credit is spent, no participant is admitted until you pay.${
          hasCard && html` Saved: ${nameCard(settings)}.`
        }`
  }</p>
${underWay ? renderUnderWay(underWay) : isDue && renderDue(call, { settings, balance })}
${mayChange && hasCard && freshNote(session, 'To change this', PATH)}
${
  !hasCard &&
  emptyState(
    'There is no saved card.',
    'The card of your next payment is saved. Then it can be charged automatically.',
  )
}
${mayChange && !hasCard && html`<section class="card"><h2>Pay in credit</h2>${payForm(deps, '20')}</section>`}
${
  mayChange &&
  hasCard &&
  session.isFresh &&
  html`<section class="card"><form method="post" action="${PATH}" novalidate>
${checkbox('enabled', 'Charge the saved card automatically', typed ? typed.has('enabled') : settings.topUpEnabled)}
${field({
  name: 'below',
  label: 'When the balance is below (US dollars)',
  value: amountOf('below', settings.topUpBelow),
  faults,
  input: html`inputmode="decimal" autocomplete="off"`,
})}
${field({
  name: 'amount',
  label: 'Charge (US dollars)',
  value: amountOf('amount', settings.topUpAmount),
  hint: `${capitalized(RANGE)}.`,
  faults,
  input: html`inputmode="decimal" autocomplete="off"`,
})}
<p><button class="primary">Save</button></p></form></section>`
}`;
  return page({ title: 'Automatic top-up', body }, status);
}
