/**
 * The pages that customers return to: `GET /checkout/{id}` from the provider's payment page,
 * `GET /portal/closed` from its portal.
 *
 * The checkout page shows the state of the payment, and nothing that the URL alone should not
 * reveal: no tenant, no key, no balance. It reloads itself until the provider has reported.
 */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
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
}

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
        text: `Your payment of ${amount} was received and the credit has been added.`,
      };
    case 'processing':
      return {
        title: 'Your payment is on its way',
        text: `The bank is still working on your payment of ${amount}. The credit is added once it arrives.`,
      };
    case 'failed':
      return { title: 'The payment failed', text: `Nothing was charged. Open a new checkout to try again.` };
    case 'expired':
      return { title: 'The checkout has expired', text: `Nothing was charged. Open a new checkout to pay.` };
    case 'open':
      return canceled
        ? { title: 'The payment was canceled', text: 'Nothing was charged. You may pay later.' }
        : {
            title: 'Waiting for the payment',
            text: `We are waiting to hear that your payment of ${amount} went through. This page looks again by itself.`,
            waiting: true,
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
function renderPage({ title, text, waiting }: Page): string {
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
  :root { --page: #f4f5f7; --card: #fff; --ink: #16181d; --quiet: #565d6b; --line: #d9dce3; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #111318; --card: #1b1e25; --ink: #f1f3f6; --quiet: #a5adbb; --line: #333843; }
  }
  body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box;
         background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
  main { max-width: 28rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
  h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
  p { margin: 0; color: var(--quiet); }
</style>
</head>
<body>
<main role="status">
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;
}
