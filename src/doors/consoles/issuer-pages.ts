/** What both consoles show of a log-in at the issuer: the button, the way there, and what may go wrong. */
import { type Html, html } from '@boxoffice/pages/html';
import { ATTEMPT_MINUTES } from '../../access/oidc/login-attempt.ts';
import type { LoginFault, LoginFaultKind } from '../../access/oidc/login-fault.ts';
import type { Answer } from './answer.ts';
import { named } from './components.ts';

/** A form with one button, which leads to the issuer. */
export function issuerForm(action: string, next: string | undefined, words: Html): Html {
  return html`<form method="post" action="${action}">
${next !== undefined && html`<input type="hidden" name="next" value="${next}">`}
<p><button class="primary">${words}</button></p></form>`;
}

/** A page, not a redirect: the policy would have to name every site that the issuer leads to. */
export function toIssuer(name: string, url: string, secret: string): Answer {
  const body = html`<h1>To ${named(name)}</h1>
<p><a class="button primary" href="${url}">Log in with ${named(name)}</a></p>`;
  const shown = { title: `To ${name}`, body, layout: 'narrow', goesTo: url } as const;
  return { kind: 'page', page: shown, loginCookie: { secret } };
}

const STATUSES: Readonly<Record<LoginFaultKind, number>> = {
  stale: 400,
  unavailable: 502,
  declined: 403,
  invalid: 502,
  not_again: 403,
  unverified: 403,
  other_person: 403,
  stranger: 403,
};

export interface FaultContext {
  /** The address of the issuer. */
  readonly issuer: string;
  /** What a person with the address would have to be. */
  readonly role: 'a member' | 'an operator';
  /** What to do instead. */
  readonly otherWay: Html;
}

export function faultPage({ kind, email }: LoginFault, { issuer, role, otherWay }: FaultContext): Answer {
  const name = named(issuer);
  const address = html`<strong>${named(email ?? '')}</strong>`;
  const said: Readonly<Record<LoginFaultKind, readonly [title: string, text: Html]>> = {
    stale: [
      'This log-in cannot be finished',
      html`This browser did not begin it, it is finished already, or it was begun more than ${ATTEMPT_MINUTES} minutes ago.`,
    ],
    unavailable: [`${issuer} does not answer`, html`Logging in with ${name} does not work at the moment.`],
    declined: [`You did not log in with ${issuer}`, html`${name} does not say who you are.`],
    invalid: [
      `The answer of ${issuer} is not valid`,
      html`You are not logged in. The reason is in the log of the service.`,
    ],
    not_again: [
      `${issuer} did not ask you to log in again`,
      html`${name} must say when you last logged in there, and that was too long ago, or it does not say it.`,
    ],
    unverified: [
      `${issuer} has not verified your address`,
      html`${name} must tell your e-mail address, and that it is verified.`,
    ],
    other_person: [
      'You logged in as another person',
      html`With ${name} you are ${address}, and here you are not.`,
    ],
    stranger: [`This address is not that of ${role}`, html`With ${name} you are ${address}.`],
  };
  const [title, text] = said[kind];
  const body = html`<h1>${title}</h1>
<p role="alert">${text}</p>
<p>${otherWay}</p>`;
  const shown = { kind: 'page', page: { title, body, layout: 'narrow' }, status: STATUSES[kind] } as const;
  // A stale answer may be another person's, while the log-in of this browser goes on.
  return kind === 'stale' ? shown : { ...shown, loginCookie: { secret: null } };
}
