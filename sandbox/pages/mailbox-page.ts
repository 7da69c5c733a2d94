/** The mailbox at `/mailbox`: the mails that the merchant's service wrote, so that they can be read without a mail server. */
import { type Html, html } from '@boxoffice/pages/html';
import { ApiError } from '../http/errors.ts';
import type { Reply } from '../http/request.ts';
import type { MailSummary, ShownMail } from '../mailbox.ts';
import { formatTime } from './format.ts';
import { renderPage } from './layout.ts';
import type { PageCall } from './page-call.ts';

export async function showMailbox({ mailbox }: PageCall): Promise<Reply> {
  if (mailbox === undefined) throw noMailbox();
  const mails = await mailbox.list();
  const list =
    mails.length === 0
      ? html`<p class="empty">No mail yet.</p>`
      : html`<ul class="rows">${mails.map((mail) => summary(mail))}</ul>`;
  const body = html`<main><p><a href="/">Dashboard</a></p>
<header><h1>Mailbox</h1><p class="hint">What the service mails to its customers, newest first.</p></header>
${list}</main>`;
  return renderPage({ title: 'Mailbox', body, layout: 'wide' });
}

function summary(mail: MailSummary): Html {
  return html`<li class="row"><div class="row-main"><a href="/mailbox/${mail.id}">${mail.subject}</a>
<span class="hint">${formatTime(mail.created)} · ${mail.to}</span></div>
<span class="badge ${mail.state}">${mail.state}</span></li>`;
}

export async function showMail(call: PageCall): Promise<Reply> {
  const mail = await find(call);
  const error = mail.error === null ? null : html`<p class="note">Not sent so far: ${mail.error}</p>`;
  const body = html`<main><p><a href="/mailbox">Mailbox</a></p>
<header><h1>${mail.subject}</h1>
<p class="hint">${formatTime(mail.created)} · ${mail.to} <span class="badge ${mail.state}">${mail.state}</span></p></header>
${error}
<section aria-labelledby="html"><h2 id="html">As HTML</h2>
<iframe class="mail" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/mailbox/${mail.id}/html" title="The mail as HTML"></iframe></section>
<section aria-labelledby="text"><h2 id="text">As plain text</h2><pre>${mail.text}</pre></section></main>`;
  return renderPage({ title: mail.subject, body, layout: 'wide', hasFrame: true });
}

/** The HTML as a mail program gets it. Nothing runs or is loaded; links open pages of their own. */
export async function showMailHtml(call: PageCall): Promise<Reply> {
  const mail = await find(call);
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
      'referrer-policy': 'no-referrer',
    },
    body: mail.html,
  };
}

async function find({ mailbox, names }: PageCall): Promise<ShownMail> {
  if (mailbox === undefined) throw noMailbox();
  const mail = await mailbox.find(names.id ?? '');
  if (mail === undefined) throw new ApiError(404, 'invalid_request_error', 'There is no such mail.');
  return mail;
}

function noMailbox(): ApiError {
  return new ApiError(404, 'invalid_request_error', 'This sandbox was started without a mailbox.');
}
