/** What was typed into a form, if its log-in is not recent any more: it waits for the next one, and is in the form again then. */
import { html } from '@boxoffice/pages/html';
import { keepForm, takeForm } from '../../access/sessions/keep-form.ts';
import type { Answer } from '../consoles/answer.ts';
import type { GuardedRoute, SessionCall } from './route.ts';

/** What confirms or works once is typed again. */
const NOT_KEPT = ['confirm', 'form', 'answer'];

/** Where the person goes after the log-in: to `page`, which has the form. */
export async function keepTyped(
  { isTyped }: GuardedRoute,
  { deps, session, form }: SessionCall,
  page: string,
): Promise<string> {
  const typed = new Map([...form].filter(([name]) => !NOT_KEPT.includes(name)));
  if (!isTyped || typed.size === 0) return page;
  const id = await deps.calls.run(session, () => keepForm(deps, session, page, typed));
  return id === undefined ? page : `${page}?kept=${id}`;
}

/** The page, with what was typed before the log-in in its form. */
export async function answerWithTyped(route: GuardedRoute, call: SessionCall): Promise<Answer> {
  const { deps, session, request, path, query } = call;
  const id = request.method === 'GET' && session.isFresh ? query.get('kept') : undefined;
  const form = id === undefined ? undefined : await takeForm(deps, session, path, id);
  if (!form) return route.handle(call);
  const answer = await route.handle({ ...call, form });
  if (answer.kind !== 'page') return answer;
  const note = html`<p class="note" role="status">Here is what you typed. It is not saved yet.</p>`;
  return { ...answer, page: { ...answer.page, body: html`${note}${answer.page.body}` } };
}
