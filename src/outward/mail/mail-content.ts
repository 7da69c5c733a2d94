/** What a mail says about each type of event, and what to do next. */

import { CONSOLE_PATH, LINK_MINUTES, linkPath } from '../../access/logins/login-link.ts';
import { INVITATION_DAYS } from '../../access/members/member.ts';
import { TOLD_LENGTH_MAX } from '../../base/tenants/tenant.ts';
import { isWebhookId } from '../webhooks/webhook.ts';
import type { MailEvent, MailType } from './mail.ts';
import { EventFacts } from './mail-facts.ts';

export interface MailContent {
  /** Also the subject line, before the name of the tenant. */
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Name and value; `undefined`: the event does not say it. */
  readonly facts: readonly (readonly [name: string, value: string | undefined])[];
  readonly next: Next;
  /** Another page that helps. */
  readonly also?: Next;
}

export interface Next {
  readonly text: string;
  /** A path of the service. */
  readonly path: string;
}

/** The log-in page, which belongs to no tenant. */
export const LOGIN_PATH = `${CONSOLE_PATH}/login`;

const TO_PAY: Next = { text: 'Buy credit', path: CONSOLE_PATH };
const TO_ALERTS: Next = { text: 'See your alerts', path: `${CONSOLE_PATH}/alerts` };
const TO_BUDGETS: Next = { text: 'See your budgets', path: `${CONSOLE_PATH}/budgets` };
const TO_TOP_UP: Next = { text: 'See your automatic top-up', path: `${CONSOLE_PATH}/top-up` };
const TO_PAYMENTS: Next = { text: 'See your payments', path: `${CONSOLE_PATH}/payments` };
const TO_KEYS: Next = { text: 'See your keys', path: `${CONSOLE_PATH}/keys` };
const TO_CREDENTIALS: Next = { text: 'See your device credentials', path: `${CONSOLE_PATH}/devices` };
const TO_CONFLICTS: Next = { text: 'See the conflicts', path: `${CONSOLE_PATH}/conflicts` };

const TO_RESUME = 'Buy credit, or turn on the automatic top-up, so that new sessions go on being admitted.';

/** `secret`: of the link, unless it was erased. */
type Describe = (facts: EventFacts, secret: string | undefined) => MailContent;

const CONTENTS: Readonly<Record<MailType, Describe>> = {
  balance_low: (facts) => ({
    title: `Your balance is below ${facts.dollars('below') ?? 'a threshold'}`,
    paragraphs: [TO_RESUME],
    facts: balanceFacts(facts),
    next: TO_PAY,
    also: TO_ALERTS,
  }),
  balance_recovered: (facts) => ({
    title: `Your balance is at least ${facts.dollars('below') ?? 'a threshold'} again`,
    paragraphs: ['You need not do anything.'],
    facts: balanceFacts(facts),
    next: TO_ALERTS,
  }),
  runway_low: (facts) => ({
    title: `Your credit lasts for less than ${facts.number('belowHours') ?? 'the wanted'} hours`,
    paragraphs: ['This assumes that usage goes on as it was lately.', TO_RESUME],
    facts: runwayFacts(facts),
    next: TO_PAY,
    also: TO_ALERTS,
  }),
  runway_recovered: (facts) => ({
    title: `Your credit lasts for more than ${facts.number('belowHours') ?? 'the wanted'} hours again`,
    paragraphs: ['You need not do anything.'],
    facts: runwayFacts(facts),
    next: TO_ALERTS,
  }),
  budget_alert: (facts) => ({
    title: `${facts.number('percent') ?? 'A share of'} percent of the budget ${facts.text('budget') ?? ''} is spent`,
    paragraphs: [
      'A hard budget refuses tokens that could cost more than is left. Sessions that run go on until their tokens end.',
    ],
    facts: [
      ['Spent', facts.exactDollars('spent')],
      ['Budget', facts.exactDollars('limit')],
      ['Since', facts.time('periodStartedAt')],
    ],
    next: TO_BUDGETS,
  }),
  credit_spent: (facts) => ({
    title: 'Your credit is spent',
    paragraphs: [
      facts.is('admitted')
        ? 'New sessions are still admitted, because your usage is not charged.'
        : 'Sessions that run go on. New ones are refused until there is credit again.',
    ],
    facts: [['Balance', facts.exactDollars('balance')]],
    next: TO_PAY,
    also: TO_TOP_UP,
  }),
  top_up_failed: (facts) => ({
    title: facts.is('automatic') ? 'An automatic top-up failed' : 'A payment failed',
    paragraphs: [
      facts.is('automatic')
        ? 'Your saved card was not charged, so your balance goes on falling. Pay a checkout: it saves the card that you pay with.'
        : 'Nothing was charged. Open a new checkout to try again.',
    ],
    facts: [
      ['Amount', facts.dollars('amount')],
      ['Reason', facts.text('error')],
      ['Payment', facts.text('paymentId')],
    ],
    next: TO_PAY,
    ...(facts.is('automatic') && { also: TO_TOP_UP }),
  }),
  card_expiring: (facts) => ({
    title: 'Your saved card expires soon',
    paragraphs: [
      'Automatic top-ups fail once it has expired. Pay a checkout with another card to save that one.',
    ],
    facts: [
      ['Card', facts.text('last4') && `${facts.text('brand') ?? 'card'} ending in ${facts.text('last4')}`],
      ['Last month', facts.text('expires')],
    ],
    next: TO_PAY,
    also: TO_TOP_UP,
  }),
  grant_expiring: (facts) => ({
    title: 'Granted credit expires soon',
    paragraphs: [
      'Usage spends it before paid credit. What is left at its end leaves your balance, so make sure that enough paid credit is there.',
    ],
    facts: [
      ['Left', facts.exactDollars('left')],
      ['Granted', facts.dollars('amount')],
      ['For', facts.text('reason')],
      ['Expires', facts.time('expiresAt')],
    ],
    next: TO_PAYMENTS,
    also: TO_PAY,
  }),
  conflicting_duplicates: (facts) => ({
    title: 'Usage was reported twice with different values',
    paragraphs: [
      'A relay reported ids that were charged before, with other values. The first report counts; the later ones charged nothing.',
      'Usually a relay uses an id again after a restart. Give each interval an id of its own.',
    ],
    facts: [
      ['Reports', facts.number('count')],
      ['Since', facts.time('firstAt')],
      ['Ids', facts.texts('ids').join(', ') || undefined],
    ],
    next: TO_CONFLICTS,
  }),
  key_retiring: (facts) => ({
    title: `The ${nameOfKey(facts)} stops working soon`,
    paragraphs: ['It was rotated. Whatever still uses it is refused from then on: give it the new one.'],
    facts: [
      ['Name', facts.text('name')],
      ['Id', facts.text('keyId')],
      ['Works until', facts.time('retiresAt')],
    ],
    next: facts.text('kind') === 'device' ? TO_CREDENTIALS : TO_KEYS,
  }),
  payment_disputed: (facts) => ({
    title: facts.text('kind') === 'fraud_warning' ? 'A payment may be fraudulent' : 'A payment was disputed',
    paragraphs: [
      'The bank questions a payment to this account. If the money is taken back, so is the credit.',
      'If you paid it yourself, tell the bank so.',
    ],
    facts: [
      ['Amount', facts.dollars('amount')],
      ['Payment', facts.text('paymentId')],
      ['Reason', facts.text('reason')?.replaceAll('_', ' ')],
      ['Reference', facts.text('reference')],
    ],
    next: TO_PAYMENTS,
  }),
  webhook_paused: (facts) => ({
    title: 'A webhook endpoint was paused',
    paragraphs: [
      facts.text('reason') === 'gone'
        ? 'It answered 410, which asks for nothing more to be sent to it.'
        : 'It refused or did not answer for too long, so nothing more is sent to it.',
      'Nothing is skipped: resume it, and delivery goes on at the same event.',
    ],
    facts: [
      ['Endpoint', facts.text('host')],
      ['Description', facts.text('description')],
      ['Id', facts.text('webhookId')],
      ['Last answer', facts.number('status') ?? facts.text('error')],
    ],
    next: toWebhook(facts.text('webhookId')),
  }),
  top_up_succeeded: (facts) => ({
    title: `We received your payment of ${facts.dollars('amount') ?? 'credit'}`,
    paragraphs: [
      facts.is('automatic')
        ? 'Your saved card was charged automatically. The credit is on your balance.'
        : 'Thank you. The credit is on your balance.',
      'The receipt with tax, if there is any, is listed with your payments.',
    ],
    facts: [
      ['Credit', facts.dollars('amount')],
      ['Payment', facts.text('paymentId')],
    ],
    next: TO_PAYMENTS,
  }),
  tenant_status_changed: (facts) => {
    const status = facts.text('to') ?? 'changed';
    const isOpen = status === 'active';
    return {
      title: isOpen ? 'Your account is active again' : `Your account was ${status}`,
      paragraphs: isOpen
        ? ['Its console is open again. Log in again to use it: sessions of before have ended.']
        : ['Nothing new is admitted, and its console is closed. Its credit, keys and data are kept.'],
      facts: [['Why', facts.text('told', TOLD_LENGTH_MAX)]],
      next: { text: isOpen ? 'Open the console' : 'See what you can do', path: CONSOLE_PATH },
    };
  },
  login_link: (_facts, secret) => ({
    title: 'Log in to Boxoffice',
    paragraphs: [
      secret === undefined
        ? 'The link of this mail is not shown any more.'
        : `Open the link to log in. It works once, within ${LINK_MINUTES} minutes.`,
      'If you did not ask for it, ignore this mail: nothing happens until the link is opened.',
    ],
    facts: [],
    next:
      secret === undefined
        ? { text: 'Ask for another link', path: LOGIN_PATH }
        : { text: 'Log in', path: linkPath(secret) },
  }),
  invitation: (facts) => ({
    title: 'An invitation to Boxoffice',
    paragraphs: [
      `You become a member of this account once you say yes, within ${INVITATION_DAYS} days.`,
      'To answer, ask for a link with this address. If you do not know who invites you, ignore this mail.',
    ],
    facts: [
      ['Invited by', facts.text('by')],
      ['Role', facts.text('role')],
    ],
    next: { text: 'Answer the invitation', path: CONSOLE_PATH },
  }),
};

function balanceFacts(facts: EventFacts): MailContent['facts'] {
  return [
    ['Balance', facts.exactDollars('balance')],
    ['Threshold', facts.dollars('below')],
  ];
}

function runwayFacts(facts: EventFacts): MailContent['facts'] {
  return [
    ['Balance', facts.exactDollars('balance')],
    ['Usage in an hour', facts.exactDollars('burnPerHour')],
    ['Lasts for hours', facts.number('runwayHours')],
    ['Empty at', facts.time('emptyAt')],
  ];
}

function nameOfKey(facts: EventFacts): string {
  return facts.text('kind') === 'device' ? 'old device credential' : 'old API key';
}

function toWebhook(id: string | undefined): Next {
  const path = `${CONSOLE_PATH}/webhooks`;
  return id !== undefined && isWebhookId(id)
    ? { text: 'See the webhook endpoint', path: `${path}/${id}` }
    : { text: 'See your webhook endpoints', path };
}

export function contentOf(event: Pick<MailEvent, 'type' | 'subject'>, secret?: string): MailContent {
  return CONTENTS[event.type](new EventFacts(event.subject), secret);
}
