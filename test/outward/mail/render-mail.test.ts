import { describe, expect, test } from 'vitest';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { findRoute } from '../../../src/doors/consoles/route.ts';
import { CONSOLE_TYPES, EVENT_MAIL_TYPES, type MailType } from '../../../src/outward/mail/mail.ts';
import { contentOf } from '../../../src/outward/mail/mail-content.ts';
import { renderMail } from '../../../src/outward/mail/render-mail.ts';

const TENANT = newTenantId();
const EVIL = '<script>alert(1)</script>\r\nBcc: eve@example.com\u202e"\'&';

function render(type: MailType, subject: object = {}, tenantName = 'Ada Video', unsubscribeUrl?: string) {
  const event = { type, at: new Date('2026-11-22T18:00:30Z'), subject };
  const mail = { tenant: TENANT, tenantName, event, isLast: false };
  return renderMail(mail, { publicUrl: 'https://box.example', unsubscribeUrl });
}

describe.each(EVENT_MAIL_TYPES)('%s', (type) => {
  test('has a subject line, says what to do next, and stands without any field', () => {
    const { subject, text, html } = render(type);
    expect(subject).toMatch(/^[A-Z].{10,80} · Ada Video$/);
    expect(text).not.toMatch(/undefined|null|NaN/);
    expect(html).not.toMatch(/undefined|null|NaN/);
    const link = new RegExp(`https://box\\.example/console(/[a-z-]+)?\\?tenant=${renderTenantId(TENANT)}`);
    expect(text).toMatch(link);
    expect(html).toMatch(link);
    expect(text).toContain('Time: 22 Nov 2026, 18:00 UTC');
  });

  test('shows foreign text as text, on one line', () => {
    const names = [
      'name',
      'error',
      'brand',
      'last4',
      'expires',
      'keyId',
      'paymentId',
      'reason',
      'reference',
      'host',
      'description',
      'webhookId',
      'below',
      'balance',
      'kind',
    ];
    const subject = { ...Object.fromEntries(names.map((name) => [name, EVIL])), ids: [EVIL] };
    const rendered = render(type, subject, EVIL);
    expect(rendered.subject).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(rendered.html).not.toContain('<script');
    expect(rendered.html).not.toContain('\u202e');
    expect(rendered.text).not.toMatch(/^Bcc:/m);
  });
});

test.each<[MailType, object, string, string]>([
  [
    'balance_low',
    { balance: '4998732', below: '5000000' },
    'Your balance is below $5.00',
    'Balance: $4.99 (exactly $4.998732)',
  ],
  [
    'balance_recovered',
    { balance: '5000000', below: '5000000' },
    'Your balance is at least $5.00 again',
    'Balance: $5.00\n',
  ],
  [
    'credit_spent',
    { balance: '-9', admitted: false },
    'Your credit is spent',
    'Balance: -$0.00 (exactly -$0.000009)',
  ],
  [
    'runway_low',
    {
      balance: '1000000',
      belowHours: 24,
      burnPerHour: '500000',
      runwayHours: 2.04,
      emptyAt: '2026-11-22T20:02:30.000Z',
    },
    'Your credit lasts for less than 24 hours',
    'Lasts for hours: 2\nEmpty at: 22 Nov 2026, 20:02 UTC',
  ],
  [
    'budget_alert',
    {
      budget: 'acme',
      percent: 80,
      spent: '8000001',
      limit: '10000000',
      periodStartedAt: '2026-11-22T00:00:00.000Z',
    },
    '80 percent of the budget acme is spent',
    'Spent: $8.00 (exactly $8.000001)\nBudget: $10.00\nSince: 22 Nov 2026, 00:00 UTC',
  ],
  [
    'top_up_failed',
    { automatic: true, amount: '10000000', paymentId: 'pi_1', error: 'card declined' },
    'An automatic top-up failed',
    'Amount: $10.00\nReason: card declined\nPayment: pi_1',
  ],
  [
    'card_expiring',
    { brand: 'visa', last4: '4242', expires: '2026-12' },
    'Your saved card expires soon',
    'Card: visa ending in 4242\nLast month: 2026-12',
  ],
  [
    'grant_expiring',
    {
      grantId: 'gr_1',
      reason: 'a gift',
      amount: '10000000',
      left: '4000001',
      expiresAt: '2026-12-22T17:00:00.000Z',
    },
    'Granted credit expires soon',
    'Left: $4.00 (exactly $4.000001)\nGranted: $10.00\nFor: a gift\nExpires: 22 Dec 2026, 17:00 UTC',
  ],
  [
    'conflicting_duplicates',
    { count: 1234, ids: ['a', 'b'], firstAt: '2026-11-22T17:00:00.000Z' },
    'Usage was reported twice with different values',
    'Reports: 1,234\nSince: 22 Nov 2026, 17:00 UTC\nIds: a, b',
  ],
  [
    'key_retiring',
    { keyId: 'k1', name: 'relay', kind: 'device', retiresAt: '2026-11-23T17:00:00.000Z' },
    'The old device credential stops working soon',
    'Name: relay\nId: k1\nWorks until: 23 Nov 2026, 17:00 UTC',
  ],
  [
    'payment_disputed',
    {
      paymentId: 'pi_1',
      kind: 'dispute',
      reference: 'dp_1',
      amount: '20000000',
      reason: 'product_not_received',
    },
    'A payment was disputed',
    'Amount: $20.00\nPayment: pi_1\nReason: product not received\nReference: dp_1',
  ],
  [
    'webhook_paused',
    {
      webhookId: 'wh_1',
      host: 'hooks.example.com',
      description: null,
      reason: 'failing',
      seq: 4,
      attempts: 10,
      status: 500,
      error: null,
    },
    'A webhook endpoint was paused',
    'Endpoint: hooks.example.com\nId: wh_1\nLast answer: 500',
  ],
  [
    'top_up_succeeded',
    { automatic: false, amount: '20000000', paymentId: 'pi_1' },
    'We received your payment of $20.00',
    'Credit: $20.00\nPayment: pi_1',
  ],
])('%s tells what the event says', (type, subject, title, facts) => {
  const rendered = render(type, subject);
  expect(rendered.subject).toBe(`${title} · Ada Video`);
  expect(rendered.text).toContain(`${title}.`);
  expect(rendered.text).toContain(facts);
});

test('an alert has the link to unsubscribe, a receipt has none', () => {
  const alert = render('balance_low', {}, 'Ada', 'https://box.example/unsubscribe/x');
  expect(alert.text).toContain('Unsubscribe: https://box.example/unsubscribe/x');
  expect(alert.html).toContain('href="https://box.example/unsubscribe/x"');
  const receipt = render('top_up_succeeded');
  expect(`${receipt.text}${receipt.html}`).not.toMatch(/unsubscribe/i);
});

test('a long name is cut in the subject line', () => {
  expect(render('credit_spent', {}, 'x'.repeat(200)).subject).toBe(
    `Your credit is spent · ${'x'.repeat(59)}…`,
  );
});

describe('the links of mails', () => {
  const WEBHOOK = `wh_${'0'.repeat(32)}`;

  test('lead to pages of the console', () => {
    for (const type of [...EVENT_MAIL_TYPES, ...CONSOLE_TYPES]) {
      for (const subject of [{}, { automatic: true, kind: 'device', webhookId: WEBHOOK }]) {
        const { next, also = next } = contentOf({ type, subject }, 'A'.repeat(43));
        for (const { path } of [next, also]) {
          expect(findRoute(ROUTES, 'GET', path), path).toBeDefined();
        }
      }
    }
  });

  test.each<[MailType, object, readonly string[]]>([
    ['balance_low', {}, ['/console', '/console/alerts']],
    ['runway_recovered', {}, ['/console/alerts']],
    ['top_up_failed', { automatic: true }, ['/console', '/console/top-up']],
    ['key_retiring', { kind: 'relay' }, ['/console/keys']],
    ['key_retiring', { kind: 'device' }, ['/console/devices']],
    ['webhook_paused', { webhookId: WEBHOOK }, [`/console/webhooks/${WEBHOOK}`]],
    ['webhook_paused', { webhookId: '../members' }, ['/console/webhooks']],
    ['payment_disputed', {}, ['/console/payments']],
    ['top_up_succeeded', {}, ['/console/payments']],
    ['conflicting_duplicates', {}, ['/console/conflicts']],
  ])('of %s lead to what it is about, in its tenant', (type, subject, pages) => {
    const { text } = render(type, subject);
    const links = [...text.matchAll(/^https:\S+$/gm)].map(([link]) => link);
    expect(links).toEqual(pages.map((path) => `https://box.example${path}?tenant=${renderTenantId(TENANT)}`));
  });
});

describe('a mail of the console', () => {
  const LINK = `https://box.example/console/login/${'A'.repeat(43)}`;
  const login = (secret: string | undefined) => {
    const event = { type: 'login_link', at: new Date('2026-11-22T18:00:30Z'), subject: {} } as const;
    const mail = { tenant: null, tenantName: null, event, isLast: false };
    return renderMail(mail, { publicUrl: 'https://box.example', secret });
  };

  test('has the link that logs in as text and as HTML, and names no tenant', () => {
    const { subject, text, html } = login('A'.repeat(43));
    expect(subject).toBe('Log in to Boxoffice');
    expect(text).toContain(`\n${LINK}\n`);
    expect(html).toContain(`href="${LINK}"`);
    expect(`${text}${html}`).not.toMatch(/Account|tenant=|null|undefined|nobody|somebody/);
  });

  test('whose link was erased leads to the page that asks for another one', () => {
    const { text } = login(undefined);
    expect(text).toContain('not shown any more');
    expect(text).toMatch(/^https:\/\/box\.example\/console\/login$/m);
  });

  test('that invites names the tenant and the role, and has no link that logs in', () => {
    const { subject, text } = render('invitation', { role: 'finance' }, 'Ada\r\nBcc: eve@example.com');
    expect(subject).toBe('An invitation to Boxoffice');
    expect(text).toContain(`Account: Ada Bcc: eve@ example. com (${renderTenantId(TENANT)})\nRole: finance`);
    expect(text).toContain(`\nhttps://box.example/console?tenant=${renderTenantId(TENANT)}\n`);
  });

  test('that invites has no link of the tenant, and few of its words', () => {
    const name = `<a href="https://evil.example">You won</a> www.evil.example ${'x'.repeat(200)}`;
    const { text, html } = render('invitation', { role: 'viewer' }, name);
    for (const part of [text, html]) {
      expect(part).not.toMatch(/evil\.example|x{30}/);
      const links = [...part.matchAll(/https?:\/\/\S*?(?=["\s<]|$)/g)].map(([link]) => link);
      expect([...new Set(links)]).toEqual([`https://box.example/console?tenant=${renderTenantId(TENANT)}`]);
    }
  });
});
