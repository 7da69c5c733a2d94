/** The page for a form whose sender has to log in first. It has what was typed, and sends it again after the log-in. */
import { html } from '@boxoffice/pages/html';
import type { Form } from '../http/form.ts';
import { type Answer, page } from './answer.ts';
import type { PageCall } from './route.ts';

/** Fields that pages fill in by themselves. */
const OWN_FIELDS = ['form', 'next'];
/** What confirms is typed again. */
const CONFIRMS = ['confirm'];
/** A larger form is not sent back: its quotes alone would make it six times as large. */
const CHARACTERS_MAX = 16_384;

/** Whether the form has something that would have to be typed again, and not too much of it. */
export function isTyped(form: Form): boolean {
  const characters = [...form].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const hasText = [...form].some(
    ([name, value]) => value !== '' && ![...OWN_FIELDS, ...CONFIRMS].includes(name),
  );
  return hasText && characters <= CHARACTERS_MAX;
}

/**
 * Nothing is kept by the service: only the browser that sent the form has it. The log-in opens in another tab.
 *
 * `why`: a sentence. `login`: the address where the log-in begins.
 */
export function sendAgainPage({ path, form }: PageCall, why: string, login: string): Answer {
  const title = 'Log in, then send this again';
  const body = html`<h1>${title}</h1>
<p role="alert">${why} Nothing was changed. What you typed is still here, until you close this page.</p>
<ol>
<li><a href="${login}" target="_blank" rel="noopener">Log in in a new tab</a></li>
<li>Come back to this one, and send the form.</li>
</ol>
<form method="post" action="${path}">
${[...form].filter(([name]) => !CONFIRMS.includes(name)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p><button class="primary">Send again</button></p>
</form>`;
  return page({ title, body, layout: 'narrow' }, 401);
}
