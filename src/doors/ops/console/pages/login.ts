/** `/console/login` and below: operators log in with a link of the command line, and out. */
import { html } from '@boxoffice/pages/html';
import { endOperatorSession } from '../../../../access/operators/end-operator-session.ts';
import { openOperatorSession, peekOperatorLink } from '../../../../access/operators/log-in-with-link.ts';
import {
  OPERATOR_FRESH_MINUTES,
  OPERATOR_HOURS,
  OPERATOR_LINK_MINUTES,
} from '../../../../access/operators/operator-session.ts';
import { type Answer, page, redirect } from '../../../consoles/answer.ts';
import { fromOf } from '../../../consoles/route.ts';
import type { LoggedInCall, OperatorCall } from '../route.ts';
import { confirmWithIssuer, loginWithIssuer } from './operator-oidc.ts';

const COMMAND = html`<pre tabindex="0"><code>npm run admin -- console operator</code></pre>`;

export async function showLogin(call: OperatorCall): Promise<Answer> {
  if (call.session) return redirect('/console');
  const body = html`<h1>Log in as an operator</h1>
${loginWithIssuer(call)}
<p>Run this on a machine of the service, and open the link that it prints:</p>
${COMMAND}
<p class="hint">The link works once, within ${OPERATOR_LINK_MINUTES} minutes. You are then logged in for at most
${OPERATOR_HOURS} hours, under your login name on that machine.</p>`;
  return page({ title: 'Log in as an operator', body, layout: 'narrow' });
}

/** A GET changes nothing, so that a program that looks at the link does not use it up. */
export async function showLink({ deps, params }: OperatorCall): Promise<Answer> {
  const operator = await peekOperatorLink(deps.db, params.token ?? '');
  if (operator === undefined) return page(deadLinkPage(), 404);
  const body = html`<h1>Log in as the operator <bdi>${operator}</bdi></h1>
<form method="post"><p><button class="primary">Log in</button></p></form>
<p class="hint">What you change stands in the audit trail under this name.</p>`;
  return page({ title: 'Log in as an operator', body, layout: 'narrow' });
}

export async function submitLink(call: OperatorCall): Promise<Answer> {
  const secret = await openOperatorSession(call.deps.db, call.params.token ?? '', fromOf(call));
  return secret === undefined ? page(deadLinkPage(), 404) : redirect('/console', { secret });
}

function deadLinkPage() {
  const title = 'This link does not work any more';
  const body = html`<h1>${title}</h1>
<p role="alert">A link works once, within ${OPERATOR_LINK_MINUTES} minutes. Make another one:</p>
${COMMAND}`;
  return { title, body, layout: 'narrow' } as const;
}

export async function submitLogout({ deps, session, request }: OperatorCall): Promise<Answer> {
  if (session) await endOperatorSession(deps, session, request.ip);
  return redirect('/console/login', { secret: null });
}

/** What cannot be undone needs a log-in of the last minutes. */
export async function showConfirm(call: LoggedInCall): Promise<Answer> {
  if (call.session.isFresh) return redirect('/console');
  const title = 'Log in again to go on';
  const body = html`<h1>${title}</h1>
<p>This can be done for ${OPERATOR_FRESH_MINUTES} minutes after a log-in, so that a browser that was left open does no harm.</p>
${confirmWithIssuer(call)}
<p>Open a new link:</p>
${COMMAND}`;
  return page({ title, body, layout: 'narrow' });
}
