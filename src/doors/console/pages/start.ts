/** `/console/start`: from the signup to the first usage, step by step. */
import { type Html, html } from '@boxoffice/pages/html';
import type { ApiKey } from '../../../access/keys/api-key.ts';
import { listKeys } from '../../../access/keys/list-keys.ts';
import { mayDo } from '../../../access/rights/abilities.ts';
import type { Session } from '../../../access/sessions/session.ts';
import { type Billing, getBilling } from '../../../money/payments/get-billing.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { dollars, formId } from '../../consoles/components.ts';
import type { Deps } from '../../deps.ts';
import type { SessionCall } from '../route.ts';
import { onTheirWay, payForm } from './pay.ts';

/** How far a tenant has come. */
export interface Progress {
  readonly billing: Billing;
  readonly hasPaid: boolean;
  readonly hasRelayKey: boolean;
  readonly hasUsage: boolean;
  /** What was paid by bank, and is not credited yet. */
  readonly onTheirWay: readonly Html[];
}

export async function findProgress({ deps, session }: { deps: Deps; session: Session }): Promise<Progress> {
  const billing = await getBilling(deps.db, session.tenant);
  const keys = await listKeys(deps.db, session.tenant, undefined);
  const notes = await onTheirWay({ deps, session });
  const works = ({ kind, revokedAt }: ApiKey) => kind === 'relay' && revokedAt === null;
  return {
    billing,
    hasPaid: billing.settings.firstPaidAt !== null || billing.tenant.exempt,
    hasRelayKey: keys?.keys.some(works) ?? false,
    hasUsage: billing.recent.some(({ kind }) => kind === 'usage'),
    onTheirWay: notes,
  };
}

export function isStarted({ hasPaid, hasRelayKey, hasUsage }: Progress): boolean {
  return hasPaid && hasRelayKey && hasUsage;
}

export async function showStart(call: SessionCall): Promise<Answer> {
  const progress = await findProgress(call);
  const body = html`<h1>Getting started</h1>
${renderSteps(call, progress)}`;
  return page({ title: 'Getting started', body, ...(!progress.hasUsage && { reloadSeconds: 5 }) });
}

/** The script reads it again while something is missing. */
export function renderSteps({ deps, session }: SessionCall, progress: Progress): Html {
  const { hasPaid, hasRelayKey, hasUsage, billing } = progress;
  const current = !hasPaid ? 2 : !hasRelayKey ? 3 : hasUsage ? 0 : 4;
  const step = (number: number, title: string, isDone: boolean, text: Html) =>
    html`<li${isDone && html` class="is-done"`}${number === current && html` aria-current="step"`}>
<h2>${title}${isDone && html`<span class="hidden"> (done)</span>`}</h2>${text}</li>`;
  return html`<div id="progress"${!hasUsage && html` data-again="/console/start"`}>
<ol class="steps">
${step(1, 'Sign up', true, html`<p>${billing.tenant.email}</p>`)}
${step(
  2,
  'Pay in credit',
  hasPaid,
  html`${progress.onTheirWay}
${
  hasPaid
    ? mayDo(session.role, 'see_money')
      ? html`<p>Your balance is ${dollars(billing.balance)}.</p>`
      : html`<p>The tenant has credit.</p>`
    : mayDo(session.role, 'pay')
      ? payForm(deps, '20')
      : html`<p>An owner or a member of finance pays.</p>`
}`,
)}
${step(3, 'Create keys', hasRelayKey, renderKeyStep(session, hasRelayKey))}
${step(
  4,
  'Report usage',
  hasUsage,
  hasUsage
    ? html`<p role="status" class="done">The first usage has arrived. <a href="/console">See what it cost</a>.</p>`
    : html`<p role="status">Nothing has arrived yet. This page notices by itself when it does.</p>`,
)}
</ol></div>`;
}

function renderKeyStep(session: Session, hasRelayKey: boolean): Html {
  if (hasRelayKey) {
    return mayDo(session.role, 'see_keys')
      ? html`<p>You have keys. <a href="/console/keys">See them</a>.</p>`
      : html`<p>The tenant has keys.</p>`;
  }
  if (!mayDo(session.role, 'change_keys')) return html`<p>An owner creates keys.</p>`;
  return html`<p>One for your back end, which may do everything, and one for your relay, which only reports usage.</p>
<form method="post" action="/console/start/keys">${formId()}<button class="primary">Create both keys</button></form>`;
}
