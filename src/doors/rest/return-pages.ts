/**
 * The pages that customers return to: `GET /checkout/{id}` from the provider's payment page,
 * `GET /portal/closed` from its portal.
 *
 * The checkout page shows the state of the payment, and nothing that the URL alone should not
 * reveal: no tenant, no key, no balance. It reloads itself until the provider has reported.
 */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { inlineSheet } from '@boxoffice/pages/style-sheet';
import { TOKENS } from '@boxoffice/pages/tokens.css';
import type { FastifyReply } from 'fastify';
import { Type } from '../../base/lib/schema.ts';
import { displayCents } from '../../money/amount.ts';
import type { Checkout } from '../../money/checkouts/checkout.ts';
import { findCheckoutById } from '../../money/checkouts/find-checkout.ts';
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';

const STYLE = `${TOKENS}
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem;
       background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--sans); }
main { max-width: 28rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; color: var(--quiet); }
nav { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
nav a { display: block; padding: .25rem 0; color: var(--accent); text-underline-offset: .15em; }
`;

const { element: SHEET, policy: POLICY } = inlineSheet(STYLE);

export function returnPages(app: Http, deps: Deps): void {
  app.get('/portal/closed', { schema: { hide: true } }, async (_request, reply) =>
    sendPage(reply, PORTAL_CLOSED),
  );
  app.get(
    '/checkout/:id',
    {
      schema: {
        hide: true,
        params: Type.Object({ id: Type.String() }),
      },
    },
    async (request, reply) => {
      const checkout = await findCheckoutById(deps.db, request.params.id);
      const page = checkout
        ? describe(checkout, Object.hasOwn(request.query as object, 'canceled'))
        : NOT_FOUND;
      return sendPage(reply.code(checkout ? 200 : 404), page);
    },
  );
}

interface Page {
  readonly title: string;
  readonly text: string;
  /** Reload after a moment. */
  readonly waiting?: boolean;
  /** Where to go from here. */
  readonly links?: readonly Link[];
}

interface Link {
  readonly text: string;
  readonly href: string;
}

/** The console, and operations in the reference: the page itself must not show a balance to everyone who has its address. */
const ONWARD: readonly Link[] = [
  { text: 'Open the console', href: '/console' },
  { text: 'Read your balance', href: '/docs/rest#/Billing/getBilling' },
  { text: 'Create a key for a relay', href: '/docs/rest#/Keys/createKey' },
  { text: 'Let a device join', href: '/docs/rest#/Device%20credentials/createDeviceCredential' },
];

const PORTAL_CLOSED: Page = {
  title: 'All done',
  text: 'What you changed has been saved. You may close this page.',
  links: [
    { text: 'Back to your payments', href: '/console/payments' },
    { text: 'Automatic top-up', href: '/console/top-up' },
  ],
};

const NOT_FOUND: Page = {
  title: 'There is no such payment',
  text: 'The address may be incomplete. Go back to where you started the payment.',
  links: [{ text: 'Open the console', href: '/console' }],
};

function describe(checkout: Checkout, canceled: boolean): Page {
  const amount = displayCents(checkout.amount);
  switch (checkout.state) {
    case 'paid':
      return {
        title: 'Thank you',
        text: `Your payment was received, and your balance has grown by ${amount}.`,
        links: ONWARD,
      };
    case 'processing':
      return {
        title: 'Your payment is on its way',
        text: `The bank is still working on your payment. Your balance grows by ${amount} once it arrives.`,
        links: ONWARD,
      };
    case 'failed':
      return {
        title: 'The payment failed',
        text: 'Nothing was charged. Open a new checkout to try again.',
        links: ONWARD,
      };
    case 'expired':
      return {
        title: 'The checkout has expired',
        text: 'Nothing was charged. Open a new checkout to pay.',
        links: ONWARD,
      };
    case 'open':
      return canceled
        ? {
            title: 'The payment was canceled',
            text: 'Nothing was charged. You may pay later.',
            links: ONWARD,
          }
        : {
            title: 'Your new balance is on its way',
            text: `We add ${amount} as soon as the payment provider confirms your payment, usually within seconds. This page looks again by itself.`,
            waiting: true,
            links: ONWARD,
          };
  }
}

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(renderPage(page));
}

function renderPage({ title, text, waiting = false, links = [] }: Page): string {
  return renderDocument({
    title,
    head: html`${waiting && html`<meta http-equiv="refresh" content="2">\n`}${SHEET}`,
    body: html`<main>
<div role="status">
<h1>${title}</h1>
<p>${text}</p>
</div>
${links.length > 0 && renderLinks(links)}
</main>`,
  });
}

function renderLinks(links: readonly Link[]): Html {
  const anchors = links.map(({ text, href }) => html`<a href="${href}">${text}</a>\n`);
  return html`<nav aria-label="What to do next">\n${anchors}</nav>`;
}
