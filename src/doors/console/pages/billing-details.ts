/** `/console/billing-details`: name, address and tax id of the tenant on its statements, and where its months begin. */
import { type Html, html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { actorOf, type Session } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { getTimeZone } from '../../../money/calendar/get-time-zone.ts';
import { setTimeZone } from '../../../money/calendar/set-time-zone.ts';
import { TIME_ZONE_LENGTH_MAX } from '../../../money/calendar/time-zone.ts';
import { getBillingDetails } from '../../../money/statements/get-billing-details.ts';
import { setBillingDetails } from '../../../money/statements/set-billing-details.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { detailsFields, parseDetailsForm } from '../../consoles/billing-details-form.ts';
import { type Faults, field, named, timeOf } from '../../consoles/components.ts';
import { faultsOf } from '../../consoles/read-fields.ts';
import type { Deps } from '../../deps.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';

const PATH = '/console/billing-details';

export async function showBillingDetails(call: SessionCall): Promise<Answer> {
  return detailsPage(call, undefined, {});
}

export async function submitBillingDetails(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  try {
    const wanted = parseDetailsForm(form);
    const actor = actorOf(session, address);
    await inTransaction(deps.db, (tx) => setBillingDetails(tx, actor, session.tenant, wanted));
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return detailsPage(call, form, faults, 400);
  }
  return done(PATH, 'The billing details are saved.');
}

export async function submitTimeZone(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const name = (form.get('time_zone') ?? '').trim();
  try {
    await inTransaction(deps.db, (tx) => setTimeZone(tx, actorOf(session, address), session.tenant, name));
  } catch (error) {
    const faults = faultsOf(error, ['time_zone']);
    if (!faults) throw error;
    return detailsPage(call, form, faults, 400);
  }
  return done(PATH, `The time zone is ${name}.`);
}

async function detailsPage(
  { deps, session }: SessionCall,
  typed: Form | undefined,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  const stored = await getBillingDetails(deps.db, session.tenant);
  const isFixed = !mayDo(session.role, 'pay');
  const body = html`<h1>Billing details</h1>
<p>Your <a href="/console/statements">statements</a> show them from now on. Those of months that are over keep what they had; if they had none,
they show the first ones that you give.</p>
<section class="card"><form method="post" action="${PATH}" novalidate>
${detailsFields({ stored, typed, faults, isFixed })}
${!isFixed && html`<p><button class="primary">Save</button></p>`}</form></section>
${await renderTimeZone(deps, session, typed?.get('time_zone'), faults)}`;
  return page({ title: 'Billing details', body }, status);
}

async function renderTimeZone(
  deps: Deps,
  { tenant, role }: Session,
  typed: string | undefined,
  faults: Faults,
): Promise<Html> {
  const { zone, next } = await getTimeZone(deps.db, tenant);
  const isFixed = !mayDo(role, 'pay') && html` readonly`;
  return html`<section class="card"><h2>Time zone</h2>
<p>Months of statements, and days of sums and charts, begin in ${named(zone)}${
    next && html`, and in ${named(next.zone)} from the month on that begins at ${timeOf(next.from)}`
  }.</p>
<form method="post" action="/console/time-zone" novalidate>
${field({
  name: 'time_zone',
  label: 'Time zone',
  value: typed ?? next?.zone ?? zone,
  hint: 'A name of the IANA time zone database, such as Europe/Berlin: the list has them. Before your first usage, a change holds from this month on; later, from the next month on. Statements of months that are over never change.',
  faults,
  input: html`list="time-zones" maxlength="${TIME_ZONE_LENGTH_MAX}" autocomplete="off"${isFixed}`,
})}
<datalist id="time-zones">${Intl.supportedValuesOf('timeZone').map((each) => html`<option value="${each}">`)}</datalist>
${!isFixed && html`<p><button class="primary">Save</button></p>`}</form></section>`;
}
