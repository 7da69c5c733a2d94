/** The mail about an event: subject line, plain text, and the one layout in HTML. */
import { Html, html } from '@boxoffice/pages/html';
import { CONSOLE_PATH } from '../../access/logins/login-link.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import {
  type ConsoleMailType,
  type EventMailKind,
  isConsoleType,
  kindOf,
  type Mail,
  type MailType,
} from './mail.ts';
import { contentOf, LOGIN_PATH, type MailContent, type Next } from './mail-content.ts';
import { renderTime } from './mail-facts.ts';
import { cleanText, withoutLinks } from './mail-text.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailLinks {
  /** The address of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** For an alert. */
  readonly unsubscribeUrl?: string | undefined;
  /** Where to write to about the account; `undefined`: no address is named. */
  readonly supportEmail?: string | undefined;
  /** The secret of the link in a mail that logs in. `undefined`: it was erased. */
  readonly secret?: string | undefined;
}

export type MailToRender = Pick<Mail, 'tenant' | 'tenantName' | 'event' | 'isLast'>;

/** Characters of a tenant's name in a subject line, and in an invitation. */
const SUBJECT_NAME_MAX = 60;

const LAST_OF_DAY =
  'This is the last alert to this address today (UTC). Further ones are held back; the log of events has all of them.';

export function subjectOf({ tenantName, event }: Pick<Mail, 'tenantName' | 'event'>): string {
  const title = cleanText(contentOf(event).title);
  return tenantName === null || isToStranger(event)
    ? title
    : `${title} · ${cleanText(tenantName, SUBJECT_NAME_MAX)}`;
}

/** A tenant may invite any address, so the mail has the tenant's words only as the name of the account. */
function isToStranger({ type }: Mail['event']): boolean {
  return type === 'invitation';
}

function accountOf({ tenantName, event }: Pick<Mail, 'tenantName' | 'event'>): string {
  const name = tenantName ?? '';
  return isToStranger(event) ? withoutLinks(cleanText(name, SUBJECT_NAME_MAX)) : cleanText(name);
}

export function renderMail(mail: MailToRender, links: MailLinks): RenderedMail {
  const letter = letterOf(mail, links);
  return { subject: subjectOf(mail), text: renderText(letter), html: renderHtml(letter) };
}

interface Letter {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly facts: readonly (readonly [string, string])[];
  /** The first one is what to do next. */
  readonly links: readonly { readonly text: string; readonly url: string }[];
  readonly type: MailType;
  readonly service: string;
  readonly unsubscribeUrl: string | undefined;
}

function letterOf(mail: MailToRender, links: MailLinks): Letter {
  const { tenant, event, isLast } = mail;
  const { next, also, ...content } = contentOf(event, links.secret);
  const linkOf = ({ text, path }: Next) => ({ text, url: `${links.publicUrl}${withTenant(path, tenant)}` });
  return {
    title: content.title,
    paragraphs: [...content.paragraphs, ...questionsOf(event.type, links), ...(isLast ? [LAST_OF_DAY] : [])],
    facts: [
      ...(tenant === null ? [] : [['Account', `${accountOf(mail)} (${renderTenantId(tenant)})`] as const]),
      ...known(content.facts),
      ['Time', renderTime(event.at)],
    ],
    links: [next, ...(also ? [also] : [])].map(linkOf),
    type: event.type,
    service: new URL(links.publicUrl).host,
    unsubscribeUrl: links.unsubscribeUrl,
  };
}

/** Where people may ask about the account itself. */
function questionsOf(type: MailType, { supportEmail }: MailLinks): string[] {
  const isOfAccount = !isConsoleType(type) && kindOf(type) === 'account';
  return isOfAccount && supportEmail !== undefined ? [`Questions? Write to ${supportEmail}.`] : [];
}

/** A page of the console is one of the tenant, whatever tenant the reader has open. */
function withTenant(path: string, tenant: TenantId | null): string {
  const isOfTenant = tenant !== null && path.startsWith(CONSOLE_PATH) && path !== LOGIN_PATH;
  return isOfTenant ? `${path}?tenant=${renderTenantId(tenant)}` : path;
}

function known(facts: MailContent['facts']): (readonly [string, string])[] {
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

const REASONS: Readonly<Record<EventMailKind | ConsoleMailType, string>> = {
  alert: 'because this address gets alerts of the account',
  receipt: 'because a payment was made',
  account: 'because you own the account',
  login_link: 'because this address was entered to log in',
  invitation: 'because an owner of the account invited this address',
};

function why({ type, service }: Letter): string {
  return `Sent by ${service}, ${REASONS[isConsoleType(type) ? type : kindOf(type)]}.`;
}

function renderText(letter: Letter): string {
  const { title, paragraphs, facts, links, unsubscribeUrl } = letter;
  return [
    `${title}.`,
    ...paragraphs,
    facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    ...links.map(({ text, url }) => `${text}:\n${url}`),
    `-- \n${why(letter)}${unsubscribeUrl === undefined ? '' : `\nUnsubscribe: ${unsubscribeUrl}`}`,
    '',
  ].join('\n\n');
}

/**
 * Texts have the colors of the mail program, which are readable on light and on dark grounds. Only the button
 * has a ground of its own.
 */
const STYLES = {
  body: 'margin:0;padding:24px;font:16px/1.5 system-ui,-apple-system,sans-serif',
  main: 'max-width:560px;margin:0 auto',
  title: 'margin:0 0 16px;font-size:22px;line-height:1.25',
  paragraph: 'margin:0 0 16px',
  table: 'border-collapse:collapse;margin:0 0 24px;font-size:15px',
  name: 'padding:4px 16px 4px 0;text-align:left;vertical-align:top;font-weight:400;opacity:.75;white-space:nowrap',
  value: 'padding:4px 0;vertical-align:top;word-break:break-word;overflow-wrap:anywhere',
  button:
    'display:inline-block;padding:12px 20px;border-radius:8px;background:#4c3fd1;color:#ffffff;font-weight:600;text-decoration:none',
  foot: 'margin:32px 0 0;padding-top:16px;border-top:1px solid #8a8f9c;font-size:13px',
  link: 'color:inherit',
};

function renderHtml(letter: Letter): string {
  const { title, paragraphs, facts, links, unsubscribeUrl } = letter;
  const rows = facts.map(
    ([name, value]) =>
      html`<tr><th scope="row" style="${STYLES.name}">${name}</th><td style="${STYLES.value}">${value}</td></tr>
`,
  );
  const unsubscribe =
    unsubscribeUrl !== undefined &&
    html`<br><a href="${unsubscribeUrl}" target="_blank" rel="noopener noreferrer" style="${STYLES.link}">Unsubscribe</a>`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
${COLOR_SCHEME}
</head>
<body style="${STYLES.body}">
<div style="${STYLES.main}">
<h1 style="${STYLES.title}">${title}</h1>
${paragraphs.map((text) => html`<p style="${STYLES.paragraph}">${text}</p>\n`)}
<table style="${STYLES.table}">
${rows}</table>
${links.map(
  ({ text, url }, at) =>
    html`<p style="${STYLES.paragraph}"><a href="${url}" target="_blank" rel="noopener noreferrer" style="${at === 0 ? STYLES.button : STYLES.link}">${text}</a></p>
`,
)}<p style="${STYLES.foot}">${why(letter)}${unsubscribe}</p>
</div>
</body>
</html>
`;
  return page.text;
}

/** Lets a mail program with a dark ground use its own light text. */
const COLOR_SCHEME = new Html('<style>:root { color-scheme: light dark; }</style>');
