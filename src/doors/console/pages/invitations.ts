/** Invitations that wait for a yes: on the page of a link that logs in, and at `/console/tenants`. */
import { type Html, html } from '@boxoffice/pages/html';
import type { InvitationAnswer } from '../../../access/logins/open-session.ts';
import { findInvitedCredit, type Invitation } from '../../../access/members/invited-credit.ts';
import type { MemberRole } from '../../../access/rights/abilities.ts';
import { invalidField } from '../../../base/failure.ts';
import { parseTenantId, renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { dollars, named, timeOf } from '../../consoles/components.ts';
import type { Form } from '../../http/form.ts';
import type { Call } from '../route.ts';

/** What a role may do, for a person who has not joined. */
const MEANINGS: Readonly<Record<MemberRole, string>> = {
  owner: 'An owner may do everything: pay, create keys, and invite and remove others.',
  finance: 'Finance sees the money, and pays.',
  moderator: 'A moderator sees and moderates rooms.',
  viewer: 'A viewer sees everything but changes nothing.',
};

/** The fields of the form that answers one. `confirm`: the person was asked about the credit. */
export const INVITATION_FIELDS = ['tenant', 'answer', 'confirm'] as const;

/** `action`: where the answer goes. */
export function renderInvitation(action: string, invitation: Invitation): Html {
  const { tenant, tenantName, role, foundedAt } = invitation;
  // A founder is no guest.
  const heading = foundedAt ? 'was signed up with your address' : `invites you as ${role}`;
  return html`<section class="card"><h2>${named(tenantName)} ${heading}</h2>
${describeFounding(invitation)}
<p>${MEANINGS[role]} You are no member of <code>${renderTenantId(tenant)}</code> until you join.</p>
<form class="actions" method="post" action="${action}"><input type="hidden" name="tenant" value="${renderTenantId(tenant)}">
<button class="primary" name="answer" value="join">Join<span class="hidden"> ${named(tenantName)}</span></button>
<button name="answer" value="decline">Decline<span class="hidden"> ${named(tenantName)}</span></button></form></section>`;
}

function describeFounding({ foundedAt, balance = 0n }: Invitation): Html | undefined {
  if (!foundedAt) return undefined;
  return html`<p>The tenant was signed up with your address on ${timeOf(foundedAt)}. Its balance is <strong>${dollars(balance)}</strong>.</p>`;
}

/** Declining is final. `undefined`: no credit is left behind by it, or the person was asked already. */
export async function askBeforeDeclining(
  { deps, form }: Call,
  action: string,
  email: string | undefined,
): Promise<Answer | undefined> {
  const answer = parseAnswer(form);
  if (!answer || answer.isYes || form.get('confirm') === 'leave-credit') return undefined;
  const left =
    email !== undefined && answer.tenant !== undefined
      ? await findInvitedCredit(deps.db, email, answer.tenant)
      : undefined;
  if (!left) return undefined;
  const { tenant, tenantName, balance } = left;
  const title = `Decline, and leave ${dollars(balance)} behind?`;
  const body = html`<h1>${title}</h1>
${describeFounding(left)}
<p>If you decline, the credit stays in ${named(tenantName)}, where only its other members and its keys can spend it. You cannot take it
back, and you cannot join later.</p>
<form class="actions" method="post" action="${action}"><input type="hidden" name="tenant" value="${renderTenantId(tenant)}">
<input type="hidden" name="confirm" value="leave-credit">
<button class="primary" name="answer" value="join">Join ${named(tenantName)}</button>
<button class="danger" name="answer" value="decline">Decline, and leave ${dollars(balance)}</button></form>`;
  return page({ title, body, layout: 'narrow' });
}

/** A signup does not prove its address. */
export const WARNING = html`<p class="hint">Do you not know who invites you? Then decline: anybody can sign up with your address, and what you
pay into a tenant is spent by those who have its keys.</p>`;

/** The link to the next page of a list. */
export function nextPage(
  path: string,
  name: string,
  end: TenantId | undefined,
  text: string,
): Html | undefined {
  if (end === undefined) return undefined;
  return html`<p><a href="${path}?${name}=${renderTenantId(end)}">${text}</a></p>`;
}

/** `undefined`: the form answers none. Fails with `invalid_request`. */
export function parseAnswer(form: Form): InvitationAnswer | undefined {
  const answer = form.get('answer');
  if (answer === undefined) return undefined;
  if (answer !== 'join' && answer !== 'decline') throw invalidField('answer', 'must be join or decline');
  return { tenant: parseTenantId(form.get('tenant') ?? ''), isYes: answer === 'join' };
}
