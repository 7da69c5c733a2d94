/**
 * The pages that customers return to: `GET /checkout/{id}` from the provider's payment page,
 * `GET /portal/closed` from its portal.
 *
 * The checkout page shows the state of the payment, and nothing that the URL alone should not
 * reveal: no tenant, no key, no balance. It reloads itself until the provider has reported.
 */
import type { FastifyReply } from 'fastify';
import { Type } from '../../base/lib/schema.ts';
import { displayCents } from '../../money/amount.ts';
import type { Checkout } from '../../money/payments/checkout.ts';
import { findCheckoutById } from '../../money/payments/find-checkout.ts';
import type { Deps } from '../deps.ts';
import type { Http } from '../http/http.ts';

const CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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
        querystring: Type.Object({ canceled: Type.Optional(Type.String()) }),
      },
    },
    async (request, reply) => {
      const checkout = await findCheckoutById(deps.db, request.params.id);
      const page = checkout ? describe(checkout, request.query.canceled !== undefined) : NOT_FOUND;
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

/** Operations in the reference: the page itself must not show a balance to everyone who has its address. */
const ONWARD: readonly Link[] = [
  { text: 'Read your balance', href: '/docs#/Billing/getBilling' },
  { text: 'Create a key for a relay', href: '/docs#/Keys/createKey' },
  { text: 'Let a device join', href: '/docs#/Device%20credentials/createDeviceCredential' },
];

const PORTAL_CLOSED: Page = {
  title: 'All done',
  text: 'What you changed has been saved. You may close this page.',
};

const NOT_FOUND: Page = {
  title: 'There is no such payment',
  text: 'The address may be incomplete. Go back to where you started the payment.',
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
      return { title: 'The payment failed', text: `Nothing was charged. Open a new checkout to try again.` };
    case 'expired':
      return { title: 'The checkout has expired', text: `Nothing was charged. Open a new checkout to pay.` };
    case 'open':
      return canceled
        ? { title: 'The payment was canceled', text: 'Nothing was charged. You may pay later.' }
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
    .header('content-security-policy', CSP)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(renderPage(page));
}

/** Titles and texts are constants, so there is nothing to escape. */
function renderPage({ title, text, waiting, links = [] }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${waiting ? '<meta http-equiv="refresh" content="2">' : ''}
<title>${title}</title>
<style>
  :root { --page: #f4f5f7; --card: #fff; --ink: #16181d; --quiet: #565d6b; --line: #d9dce3; --link: #3f35b8; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #111318; --card: #1b1e25; --ink: #f1f3f6; --quiet: #a5adbb; --line: #333843; --link: #a9a2ff; }
  }
  body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box;
         background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
  main { max-width: 28rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
  h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
  p { margin: 0; color: var(--quiet); }
  nav { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
  nav a { display: block; padding: .25rem 0; color: var(--link); text-underline-offset: .15em; }
  a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
</style>
</head>
<body>
<main>
<div role="status">
<h1>${title}</h1>
<p>${text}</p>
</div>
${renderLinks(links)}</main>
</body>
</html>
`;
}

function renderLinks(links: readonly Link[]): string {
  if (links.length === 0) return '';
  const anchors = links.map(({ text, href }) => `<a href="${href}">${text}</a>\n`).join('');
  return `<nav aria-label="What to do next">\n${anchors}</nav>\n`;
}
