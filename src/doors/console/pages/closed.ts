/** The page that people of a suspended or archived tenant get, instead of every page of its console. */
import { type Html, html } from '@boxoffice/pages/html';
import { findTenantOfPerson, listOwnTenants } from '../../../access/logins/open-session.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import type { Session } from '../../../access/sessions/session.ts';
import { hasConsole, parseTenantId, renderTenantId } from '../../../base/tenants/tenant.ts';
import { getBilling } from '../../../money/payments/get-billing.ts';
import { getLastStatusChange } from '../../../money/tenant-status/get-last-status-change.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { dollars, named, timeOf } from '../../consoles/components.ts';
import type { Call, ClosedStatus, SessionCall } from '../route.ts';
import { onTheirWay, payForm } from './pay.ts';
import { openForm } from './tenants.ts';

const MEANINGS: Readonly<Record<ClosedStatus, string>> = {
  suspended: 'Nothing new is admitted, and its console is closed. Its credit, keys and data are kept.',
  archived:
    'It was put away: nothing is admitted, and its console is closed. Its credit, keys and data are kept.',
};

export async function closedPage({ deps }: Pick<Call, 'deps'>, session: Session): Promise<Answer> {
  const { tenant, tenantName, role, mustReview } = session;
  const status = session.tenantStatus as ClosedStatus;
  const change = await getLastStatusChange(deps, tenant);
  const mayPay = status === 'suspended' && deps.provider !== undefined && mayDo(role, 'pay');
  const body = html`<h1>${named(tenantName)} is ${status}</h1>
<p><code>${renderTenantId(tenant)}</code> is ${status}${change && html` since ${timeOf(change.at)}`}. ${MEANINGS[status]}</p>
${change?.told ? html`<p class="note"><strong>Why:</strong> ${named(change.told)}</p>` : html`<p>The operator of the service gave no reason here.</p>`}
${mayDo(role, 'see_money') && html`<p>Its balance is <strong>${dollars((await getBilling(deps.db, tenant)).balance)}</strong>.</p>`}
${whomToAsk(deps.config.supportEmail, renderTenantId(tenant))}
${
  mayPay &&
  mustReview &&
  html`<p class="note">Once it is open again, you are asked what may stay of what was made before you had proved your address. Only then can
you pay in credit: until then, others could spend it.</p>`
}
${
  mayPay &&
  !mustReview &&
  html`<section class="card"><h2>Pay in credit</h2>
${await onTheirWay({ deps, session })}
<p>Credit is booked when you have paid. The tenant stays suspended until the operator of the service opens it again.</p>
${payForm(deps, '')}</section>`
}
${await otherTenants(deps, session)}
<form method="post" action="/console/logout"><p><button>Log out</button></p></form>`;
  return page({ title: `This tenant is ${status}`, body, layout: 'narrow' }, 403);
}

/** `id`: what to write about. */
export function whomToAsk(email: string | undefined, id: string): Html {
  if (email === undefined) return html`<p>Ask the operator of the service.</p>`;
  return html`<p>Questions? Write to <a href="mailto:${email}?subject=${id}">${email}</a>.</p>`;
}

async function otherTenants(deps: Call['deps'], session: Session): Promise<Html | undefined> {
  const others = (await listOwnTenants(deps, session, 'own', undefined)).items.filter(
    ({ tenant }) => tenant !== session.tenant,
  );
  if (others.length === 0) return undefined;
  return html`<h2>Your other tenants</h2>
<ul>${others.map((each) => html`<li>${named(each.tenantName)} ${openForm(each)}</li>`)}</ul>`;
}

/** A log-in opened another tenant than the one that was used last (`passed_over`): the page says so first. */
export async function notePassedOver({ deps, session, query }: SessionCall, answer: Answer): Promise<Answer> {
  const tenant = parseTenantId(query.get('passed_over') ?? '');
  if (answer.kind !== 'page' || tenant === undefined) return answer;
  const over = await findTenantOfPerson(deps, session, tenant);
  if (!over || hasConsole(over.tenantStatus)) return answer;
  const note = html`<div class="note"><p><strong>${named(over.tenantName)}</strong>, which you used last, is ${over.tenantStatus}.</p>
${openForm(over)}</div>`;
  return { ...answer, page: { ...answer.page, body: html`${note}${answer.page.body}` } };
}
