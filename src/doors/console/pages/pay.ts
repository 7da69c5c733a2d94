/** Pay in credit: `POST /console/checkout`. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { provedAddressOf } from '../../../access/sessions/session.ts';
import { invalidField } from '../../../base/failure.ts';
import { limitHolderOf } from '../../../base/tenants/limited-caller.ts';
import { microsOfCents } from '../../../money/amount.ts';
import { listOnTheirWay } from '../../../money/checkouts/find-checkout.ts';
import { openCheckout } from '../../../money/checkouts/open-checkout.ts';
import { TOP_UP_CENTS_MAX, TOP_UP_CENTS_MIN } from '../../../money/top-ups/top-up-amount.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { capitalized, dollars, type Faults, field, timeOf } from '../../consoles/components.ts';
import { parseDollars } from '../../consoles/fields.ts';
import { faultsOf } from '../../consoles/read-fields.ts';
import type { Deps } from '../../deps.ts';
import type { SessionCall } from '../route.ts';

export const RANGE = `from $${TOP_UP_CENTS_MIN / 100} to $${(TOP_UP_CENTS_MAX / 100).toLocaleString('en-US')}`;

export function payForm({ provider }: Pick<Deps, 'provider'>, amount: string, faults: Faults = {}): Html {
  if (!provider) return html`<p>Payments are not configured here: ask the operator for credit.</p>`;
  return html`<form method="post" action="/console/checkout" novalidate>
${field({
  name: 'dollars',
  label: 'Amount in US dollars',
  value: amount,
  hint: `${capitalized(RANGE)}. Next you are asked for your card.`,
  faults,
  input: html`inputmode="decimal" autocomplete="off" required`,
})}
<p><button class="primary">Pay</button></p></form>`;
}

/** Keeps people from paying twice: what was paid by bank, and is not credited yet. Nothing for members who see no amounts. */
export async function onTheirWay({ deps, session }: Pick<SessionCall, 'deps' | 'session'>): Promise<Html[]> {
  if (!mayDo(session.role, 'see_money')) return [];
  const checkouts = await listOnTheirWay(deps.db, session.tenant);
  return checkouts.map(
    ({
      amount,
      createdAt,
    }) => html`<p class="note"><strong>A payment of ${dollars(amount)} is on its way.</strong> The bank is still working
on it since ${timeOf(createdAt)}. The balance grows once it arrives: do not pay it again.</p>`,
  );
}

/** A page, not a redirect: the policy would have to name the provider's sites, some of which are the operator's own. */
export async function submitCheckout({ deps, session, form }: SessionCall): Promise<Answer> {
  let cents: number;
  try {
    cents = parseAmount('dollars', form.get('dollars'));
  } catch (error) {
    const faults = faultsOf(error, ['dollars']);
    if (!faults) throw error;
    const body = html`<h1>Pay in credit</h1>${payForm(deps, form.get('dollars') ?? '', faults)}`;
    return page({ title: 'Pay in credit', body, layout: 'narrow' }, 400);
  }
  // The card of a person who proved the address is that of the person, not of the keys.
  const member = provedAddressOf(session) === undefined ? null : session.member!.id;
  const url = await openCheckout(deps, limitHolderOf(session), microsOfCents(cents), undefined, member);
  const title = 'To the payment page';
  const body = html`<h1>${title}</h1>
<p><a class="button primary" href="${url}">Go to the payment page</a></p>`;
  return page({ title, body, layout: 'narrow', goesTo: url });
}

/** What a payment may be, in cents. `isPaid`: it will be one. Fails with `invalid_request`. */
export function parseAmount(name: string, text: string | undefined, isPaid = true): number {
  const cents = parseDollars(name, text);
  if (isPaid && (cents < TOP_UP_CENTS_MIN || cents > TOP_UP_CENTS_MAX))
    throw invalidField(name, `must be ${RANGE}`);
  return cents;
}
