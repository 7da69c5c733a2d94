/** Pages that only say something: what went wrong, and what was not found. */
import { type Html, html } from '@boxoffice/pages/html';
import { FAILURES, type Failure } from '../../base/failure.ts';
import { type Answer, type Page, page } from './answer.ts';
import { capitalized, countOf } from './components.ts';
import type { Section } from './shell.ts';

/** What helps the reader of an error. */
export interface WayOn {
  /** The section of the page, if the reader may see it. */
  readonly section: Section | undefined;
  /** Who can help. */
  readonly help?: Html | undefined;
}

/** The form came from elsewhere, or the browser does not say where it came from. */
export function refusedFormPage(consoleUrl: string, setting: string): Answer {
  const title = 'This form was not sent from the console';
  const body = html`<h1>${title}</h1>
<p>Nothing was changed. Open the console at <a href="${consoleUrl}">${consoleUrl}</a>, and try again there. If that is another address
than the one in your browser, the operator of the service can set <code>${setting}</code> to yours.</p>`;
  return page({ title, body, layout: 'narrow' }, 403);
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'That was not understood',
  403: 'This is not allowed',
  409: 'That is not possible now',
  429: 'Too many attempts',
  502: 'The payment provider did not answer',
  503: 'The service is busy',
};

const GONE = 'The address may be incomplete, or what it showed is gone.';

/** `failure`: none is an error of ours. */
export function failurePage(status: number, failure: Failure | undefined, { section, help }: WayOn): Page {
  const isMissing = status === 404 || status === 405;
  const title = titleOf(status, failure);
  const body = html`<h1>${title}</h1>
<p role="alert">${isMissing ? GONE : textOf(failure)}${
    status === 429 && failure?.retryAfter !== undefined && ` Try again in ${timeText(failure.retryAfter)}.`
  }</p>
${help}
<p>${section ? html`<a href="${section.path}">Go to ${section.name}</a>` : html`<a href="/console">Go to the console</a>`}</p>`;
  return { title, body, layout: 'narrow' };
}

function titleOf(status: number, failure: Failure | undefined): string {
  if (status === 404 || status === 405) return `There is no such ${failure?.resource ?? 'page'}`;
  if (failure?.kind === 'permission_denied') return 'Your role does not allow this';
  if (failure?.kind === 'too_many_requests') return 'Too many requests';
  if (failure?.kind === 'payments_not_configured') return 'There are no payments here';
  return TITLES[status] ?? 'That did not work';
}

function textOf(failure: Failure | undefined): string {
  return failure ? sentence(failure) : 'The error is ours, and it was logged. Try again in a moment.';
}

function timeText(seconds: number): string {
  return seconds < 120 ? countOf(seconds, 'second') : countOf(Math.ceil(seconds / 60), 'minute');
}

/** What would be misread on a page: an address is that of a mail there. */
const REWORDED: Readonly<Record<string, string>> = {
  [FAILURES.too_many_signups]: 'Too many signups came from your network. Try again in an hour.',
};

/** A message of the interface for programs, as a sentence. */
export function sentence({ message }: Failure): string {
  const reworded = REWORDED[message];
  if (reworded !== undefined) return reworded;
  const text = message.replace(/^invalid request: /, '');
  return `${capitalized(text)}.`;
}
