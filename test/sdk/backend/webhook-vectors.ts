/** Makes docs/vectors/webhooks.json: requests to receivers of webhooks, genuine and not. */
import { createHash, createHmac } from 'node:crypto';

/** Seconds since 1970, when the requests arrive. */
const NOW = 1_795_380_003;
const ID = 'evt_5f0c3a5d7e1b24688642b1e7d5a3c0f9';

const keyOf = (name: string) => createHash('sha256').update(`webhook vectors: ${name}`).digest();
const secretOf = (name: string) => `whsec_${keyOf(name).toString('base64')}`;

const EVENT = {
  id: ID,
  seq: 42,
  type: 'balance_low',
  schema_version: 1,
  timestamp: '2026-11-22T18:00:00.000Z',
  data: {
    balance: { micros: 4_990_000, display: '$4.990000' },
    below: { micros: 5_000_000, display: '$5.000000' },
    created_at: '2026-11-21T05:50:59.605Z',
  },
};
const BODY = JSON.stringify(EVENT);

interface Request {
  readonly by?: readonly string[];
  readonly timestamp?: string;
  readonly body?: string;
}

const sign = (name: string, timestamp: string, body: string) =>
  createHmac('sha256', keyOf(name)).update(`${ID}.${timestamp}.${body}`).digest('base64');

/** A request as the service sends it. */
function request({ by = ['own'], timestamp = String(NOW), body = BODY }: Request = {}) {
  const signatures = by.flatMap((name) => [`v1,${sign(name, timestamp, body)}`, `v1a,${'A'.repeat(86)}==`]);
  const headers = {
    'webhook-id': ID,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
  return { secrets: [secretOf('own')], headers, body };
}

type Changes = Partial<Omit<ReturnType<typeof request>, 'headers'>> & {
  readonly headers?: Readonly<Record<string, string | undefined>>;
};

/** The same with other headers; `undefined` leaves one out. */
function changed({ headers, ...others }: Changes, given: Request = {}) {
  const base = request(given);
  const all = Object.entries({ ...base.headers, ...headers }).filter(([, value]) => value !== undefined);
  return { ...base, ...others, headers: Object.fromEntries(all) };
}

const admitted = (name: string, vector: object, event: object = EVENT) => ({
  name,
  ...vector,
  code: null,
  event,
});
const refused = (name: string, code: string, vector: object) => ({ name, ...vector, code });

const signature = (text: string) => changed({ headers: { 'webhook-signature': text } });
const at = (timestamp: string) => request({ timestamp });
const withBody = (body: string) => request({ body });
const OWN = sign('own', String(NOW), BODY);

const TEST_EVENT = { ...EVENT, seq: 0, type: 'webhook_test', data: { message: 'This webhook works.' } };
const OLD_EVENT = { ...EVENT, schema_version: undefined };
const NEW_EVENT = {
  ...EVENT,
  schema_version: 2,
  type: 'not_known_yet',
  skipped: 7,
  data: { name: 'Zoë 🎈', more: [1, null] },
};

const VECTORS = [
  admitted('good', request()),
  admitted('5 minutes old', at(String(NOW - 300))),
  admitted('5 minutes early', at(String(NOW + 300))),
  admitted(
    'names of headers in capitals',
    changed({
      headers: {
        ...Object.fromEntries(Object.keys(request().headers).map((name) => [name, undefined])),
        'Webhook-Id': ID,
        'WEBHOOK-TIMESTAMP': String(NOW),
        'Webhook-Signature': `v1,${OWN}`,
      },
    }),
  ),
  admitted('signed by the new secret and the old one, which is known', request({ by: ['new', 'own'] })),
  admitted('signed by the second of two known secrets', {
    ...request({ by: ['old'] }),
    secrets: [secretOf('own'), secretOf('old')],
  }),
  admitted('v1 alone', signature(`v1,${OWN}`)),
  admitted('after versions that are not known', signature(`v9,${OWN} v1a,x junk v1,${OWN}`)),
  admitted('the test event', withBody(JSON.stringify(TEST_EVENT)), TEST_EVENT),
  admitted('an event without a version', withBody(JSON.stringify(OLD_EVENT)), OLD_EVENT),
  admitted(
    'a type and members that are not known',
    withBody(JSON.stringify({ ...NEW_EVENT, more: 1 })),
    NEW_EVENT,
  ),
  admitted('a body with spaces', withBody(`${JSON.stringify(EVENT, undefined, 2)}\n`)),
  refused('spaces that were added later', 'BAD_SIGNATURE', changed({ body: `${BODY}\n` })),
  refused('another body', 'BAD_SIGNATURE', changed({ body: BODY.replace('4.99', '5.99') })),
  refused('an empty body', 'BAD_SIGNATURE', changed({ body: '' })),
  refused('another id', 'BAD_SIGNATURE', changed({ headers: { 'webhook-id': `${ID.slice(0, -1)}0` } })),
  refused(
    'another timestamp',
    'BAD_SIGNATURE',
    changed({ headers: { 'webhook-timestamp': String(NOW + 1) } }),
  ),
  refused('signed by a secret that is not known', 'BAD_SIGNATURE', request({ by: ['stranger'] })),
  refused('v1a alone', 'BAD_SIGNATURE', signature(`v1a,${'A'.repeat(86)}==`)),
  refused('the right signature as another version', 'BAD_SIGNATURE', signature(`v1a,${OWN} v2,${OWN}`)),
  refused('the right signature without a version', 'BAD_SIGNATURE', signature(OWN)),
  refused('the beginning of the right signature', 'BAD_SIGNATURE', signature(`v1,${OWN.slice(0, 20)}`)),
  refused('a signature that is too long', 'BAD_SIGNATURE', signature(`v1,${OWN}AAAA`)),
  refused('an empty signature', 'BAD_SIGNATURE', signature('v1,')),
  refused('a version alone', 'BAD_SIGNATURE', signature('v1')),
  refused('no base64', 'BAD_SIGNATURE', signature('v1,%%%')),
  refused('more than 5 minutes old', 'STALE', at(String(NOW - 301))),
  refused('more than 5 minutes early', 'STALE', at(String(NOW + 301))),
  refused('of 1970', 'STALE', at('0')),
  ...['now', '-1', '+1795380003', '1795380003.0', '1.79538e9', '0x6b031e23', '9'.repeat(30)].map((text) =>
    refused(`the timestamp ${JSON.stringify(text)}`, 'BAD_TIMESTAMP', at(text)),
  ),
  ...Object.keys(request().headers).flatMap((name) => [
    refused(`without ${name}`, 'MISSING_HEADER', changed({ headers: { [name]: undefined } })),
    refused(`with an empty ${name}`, 'MISSING_HEADER', changed({ headers: { [name]: '' } })),
  ]),
  ...(
    [
      ['no secret', []],
      ['an empty secret', ['']],
      ['a prefix alone', ['whsec_']],
      ['a secret without its prefix', [secretOf('own').slice(6)]],
      ['a public key', [secretOf('own').replace('whsec', 'whpk')]],
      ['a secret that is no base64', ['whsec_%%%%']],
      ['a wrong secret beside a good one', [secretOf('own'), '']],
    ] as const
  ).map(([name, secrets]) => refused(name, 'BAD_SECRET', { ...request(), secrets: [...secrets] })),
  ...(
    [
      ['no JSON', '{'],
      ['a list', '[]'],
      ['null', 'null'],
      ['an event without an id', JSON.stringify({ ...EVENT, id: undefined })],
      ['an event whose number is a text', JSON.stringify({ ...EVENT, seq: '42' })],
      ['an event without a type', JSON.stringify({ ...EVENT, type: undefined })],
      ['an event whose time is none', JSON.stringify({ ...EVENT, timestamp: 'now' })],
      ['an event without data', JSON.stringify({ ...EVENT, data: undefined })],
    ] as const
  ).map(([name, body]) => refused(`signed, but ${name}`, 'BAD_BODY', withBody(body))),
];

export const WEBHOOK_VECTORS = {
  about:
    'Requests that receivers of webhooks get. Each arrives at now, in seconds since 1970. code: why it is refused; null: it is genuine, and event is what it tells. See docs/webhooks.md.',
  now: NOW,
  vectors: VECTORS,
};
