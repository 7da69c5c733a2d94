/** Pages that only say something: what went wrong, and what was not found. */
import { html } from '@boxoffice/pages/html';
import { FAILURES, type Failure } from '../../base/failure.ts';

import { type Answer, type Page, page } from './answer.ts';

export function notFoundPage(): Answer {
  return page(
    notice('There is no such page', 'The address may be incomplete, or what it showed is gone.'),
    404,
  );
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
  403: 'Your role does not allow this',
  404: 'There is no such page',
  405: 'There is no such page',
  409: 'That is not possible now',
  429: 'Too many attempts',
  502: 'The payment provider did not answer',
  503: 'The service is busy',
};

export function failurePage(status: number, failure: Failure | undefined): Page {
  const text = failure ? sentence(failure) : 'The error is ours, and it was logged. Try again in a moment.';
  return notice(TITLES[status] ?? 'That did not work', text);
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
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function notice(title: string, text: string): Page {
  const body = html`<h1>${title}</h1>
<p role="alert">${text}</p>
<p><a href="/console">Go to the console</a></p>`;
  return { title, body, layout: 'narrow' };
}
