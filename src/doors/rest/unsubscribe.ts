/**
 * The page behind the unsubscribe link of an alert. A GET changes nothing, because scanners of mail follow links; the
 * POST does, from the button or at once from the mail program. Source: RFC 8058.
 */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { inlineSheet } from '@boxoffice/pages/style-sheet';
import { TOKENS } from '@boxoffice/pages/tokens.css';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Failure } from '../../base/failure.ts';
import { getSubscription, type SubscriptionState, setSubscription } from '../../outward/mail/unsubscribe.ts';
import type { Deps } from '../deps.ts';

const { element: STYLE, policy } = inlineSheet(
  `${TOKENS}
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem;
       background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--sans); }
main { width: 100%; max-width: 32rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
b { color: var(--ink); font-weight: 600; }
form { margin-top: 1.5rem; }
button { font: inherit; font-weight: 600; padding: .625rem 1.125rem; border: 0; border-radius: .5rem; cursor: pointer;
         background: var(--accent); color: var(--accent-ink); }
`,
  { hasForm: true },
);

type TokenRoute = { Params: { token: string } };

/** A plugin of its own: its POST takes a form of any kind, and reads nothing of it. */
export async function unsubscribePages(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => done(null));

  const options = { schema: { hide: true } };
  app.get<TokenRoute>('/unsubscribe/:token', options, (request, reply) =>
    answer(reply, () => getSubscription(deps, request.params.token)),
  );
  app.post<TokenRoute>('/unsubscribe/:token', options, (request, reply) =>
    answer(reply, () => setSubscription(deps, request.params.token, { unsubscribed: true })),
  );
  app.post<TokenRoute>('/unsubscribe/:token/undo', options, (request, reply) =>
    answer(reply, () => setSubscription(deps, request.params.token, { unsubscribed: false })),
  );
}

async function answer(reply: FastifyReply, find: () => Promise<SubscriptionState>): Promise<FastifyReply> {
  try {
    return sendPage(reply, describe(await find(), reply.request as { params: TokenRoute['Params'] }));
  } catch (error) {
    if (!(error instanceof Failure && error.kind === 'not_found')) throw error;
    return sendPage(reply.code(404), NOT_FOUND);
  }
}

interface Page {
  readonly title: string;
  readonly text: Html;
  readonly form?: Html;
}

const NOT_FOUND: Page = {
  title: 'This link is not valid',
  text: html`The address may be incomplete. Open the link in the mail again.`,
};

function describe(state: SubscriptionState, { params }: { params: TokenRoute['Params'] }): Page {
  const { address, tenantName, unsubscribed } = state;
  const path = `/unsubscribe/${params.token}`;
  if (unsubscribed) {
    return {
      title: 'You are unsubscribed',
      text: html`<b>${address}</b> gets no more alerts of <b>${tenantName}</b>. Receipts of payments still come.`,
      form: button(`${path}/undo`, 'Get alerts again'),
    };
  }
  return {
    title: 'Unsubscribe from alerts?',
    text: html`<b>${address}</b> gets alerts of <b>${tenantName}</b>, such as of a low balance or a failed payment.`,
    form: button(path, 'Unsubscribe'),
  };
}

function button(path: string, text: string): Html {
  return html`<form method="post" action="${path}"><button type="submit">${text}</button></form>`;
}

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(renderPage(page));
}

function renderPage({ title, text, form }: Page): string {
  const body = html`<main>
<div role="status">
<h1>${title}</h1>
<p>${text}</p>
</div>
${form}
</main>`;
  return renderDocument({ title, head: STYLE, body });
}
