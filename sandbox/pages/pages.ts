/** The pages: which path shows which page, and who may post. */
import type { IncomingMessage } from 'node:http';
import type { Control } from '../control/control.ts';
import { isCrossSite } from '../control/origin.ts';
import { ApiError } from '../http/errors.ts';
import { parseForm } from '../http/form.ts';
import { type Reply, readBody } from '../http/request.ts';
import { matchRoute, type Route } from '../http/router.ts';
import type { Mailbox } from '../mailbox.ts';
import type { Provider } from '../provider.ts';
import { showAuthentication, submitAuthentication } from './authentication-page.ts';
import { showCheckout, submitCheckout } from './checkout-page.ts';
import { showDashboard, submitDashboard } from './dashboard-page.ts';
import { renderNotice } from './layout.ts';
import { showMail, showMailbox, showMailHtml } from './mailbox-page.ts';
import type { PageCall } from './page-call.ts';
import { showPortal, submitPortal } from './portal-page.ts';
import { showInvoice, showReceipt } from './receipt-page.ts';
import { ICON, STYLE } from './style.css.ts';

type PageHandler = (call: PageCall) => Reply | Promise<Reply>;

/** Pages for buyers. */
const hosted: ReadonlyArray<Route<PageHandler>> = [
  { method: 'GET', path: '/c/pay/:id', handle: showCheckout },
  { method: 'POST', path: '/c/pay/:id', handle: submitCheckout },
  { method: 'GET', path: '/c/authenticate/:id', handle: showAuthentication },
  { method: 'POST', path: '/c/authenticate/:id', handle: submitAuthentication },
  { method: 'GET', path: '/receipts/:id', handle: showReceipt },
  { method: 'GET', path: '/invoices/:id', handle: showInvoice },
  { method: 'GET', path: '/p/session/:token', handle: showPortal },
  { method: 'POST', path: '/p/session/:token', handle: submitPortal },
  { method: 'GET', path: '/assets/style.css', handle: () => asset('text/css; charset=utf-8', STYLE) },
  { method: 'GET', path: '/assets/icon.svg', handle: () => asset('image/svg+xml', ICON) },
];

/** Pages for the operator of the sandbox. */
const own: ReadonlyArray<Route<PageHandler>> = [
  { method: 'GET', path: '/', handle: showDashboard },
  { method: 'POST', path: '/', handle: submitDashboard },
  { method: 'GET', path: '/mailbox', handle: showMailbox },
  { method: 'GET', path: '/mailbox/:id', handle: showMail },
  { method: 'GET', path: '/mailbox/:id/html', handle: showMailHtml },
];

export interface PagesOptions {
  readonly provider: Provider;
  readonly control: Control;
  readonly mailbox: Mailbox | undefined;
  /** Whether the dashboard is available. */
  readonly dashboard: boolean;
}

export async function handlePage(options: PagesOptions, message: IncomingMessage, url: URL): Promise<Reply> {
  const { provider, control, mailbox, dashboard } = options;
  const method = message.method === 'HEAD' ? 'GET' : (message.method ?? 'GET');
  const match = matchRoute(dashboard ? [...hosted, ...own] : hosted, method, url.pathname);
  if (match === undefined) return renderNotice(404, 'Not found', 'The sandbox has no such page.');
  if (method === 'POST' && isCrossSite(message, provider.publicUrl)) {
    return renderNotice(403, 'Not allowed', 'This form was sent from another website.');
  }
  try {
    const form = parseForm(method === 'POST' ? await readBody(message) : url.search.slice(1));
    return await match.handle({ provider, control, mailbox, names: match.names, form });
  } catch (error) {
    if (error instanceof ApiError) return renderNotice(error.status, 'That did not work', error.message);
    throw error;
  }
}

function asset(type: string, body: string): Reply {
  return { status: 200, headers: { 'content-type': type, 'cache-control': 'max-age=300' }, body };
}
