/** Mistakes that an SDK finds by itself: they are `Invalid` without a code, and nothing is sent. */
import type { Outcome } from '../driver.ts';
import { startScriptedControl } from '../scripted-control.ts';
import type { Step } from '../step.ts';
import { thumbprintOf } from './devices.ts';

const CALLS: Readonly<Record<string, readonly [method: string, request: object]>> = {
  'a change of nothing': ['rooms.update_policy', { room: 'lobby', policy: {} }],
  'a watchdog with nothing to change': ['watchdogs.update', { id: 'wd' }],
  'a length of time beyond the contract': [
    'watchdogs.create',
    { room: 'lobby', empty_for: 60.0001, action: 'notify' },
  ],
  'an unknown word': ['watchdogs.create', { room: 'lobby', empty_for: 60, action: 'fly' }],
  'an unknown track': ['moderation.force_mute', { room: 'lobby', username: 'ann', tracks: ['smell'] }],
  'a ban of two': [
    'moderation.ban',
    { room: 'lobby', username: 'ann', device_thumbprint: thumbprintOf('ann') },
  ],
};

/** Methods of REST that take an `id`, which becomes a part of the path. */
const WITH_IDS = [
  ...[
    'usage.explain',
    'usage.session',
    'keys.rotate',
    'keys.revoke',
    'billing.receipt',
    'participants.erasure',
  ],
] as const;

const OPTIONS: Readonly<Record<string, object>> = {
  'an address of another kind': { url: 'ftp://boxoffice.example' },
  'no address': { control_url: 'boxoffice' },
  'an address with a query': { url: 'https://boxoffice.example/?tenant=x' },
  'an address with a fragment': { control_url: 'https://boxoffice.example/#x' },
  'an address with a user': { url: 'https://ann:secret@boxoffice.example' },
  'a key with a line break': { api_key: 'svc_1\nx: y' },
  'a key beyond ASCII': { api_key: 'svc_é' },
};

/** Idempotency keys; undefined: one that is too long. */
const KEYS: Readonly<Record<string, string | undefined>> = {
  empty: '',
  'with a line break': 'order\n7',
  'beyond ASCII': 'Bestellung für Ann',
  'too long': undefined,
};

const INVALID = { error: { kind: 'Invalid', code: undefined } };

export const MISTAKES: readonly Step[] = [
  {
    name: 'mistakes: in requests',
    against: 'a script',
    run: async (at) => {
      const control = await startScriptedControl(() => ({}));
      at.onEnd(control.close);
      const { client } = await at.house({ control_url: control.url });
      const outcomes: Record<string, Outcome> = {};
      for (const [what, [method, request]] of Object.entries(CALLS)) {
        outcomes[what] = kindsOf(await client.call(method, request));
      }
      return { outcomes, isSilent: control.received.length === 0 };
    },
    expect: {
      outcomes: Object.fromEntries(Object.keys(CALLS).map((what) => [what, INVALID])),
      isSilent: true,
    },
  },
  {
    name: 'mistakes: ids that no path can hold',
    run: async (at) => {
      const proxy = await at.proxy(at.world.service.port);
      const { client } = await at.house({ url: proxy.url });
      const outcomes: Outcome[] = [];
      for (const method of WITH_IDS) {
        for (const id of ['', '.', '..']) outcomes.push(kindsOf(await client.call(method, { id })));
      }
      return { outcomes, isSilent: proxy.requests === 0 };
    },
    expect: { outcomes: Array(3 * WITH_IDS.length).fill(INVALID), isSilent: true },
  },
  {
    // The service takes an empty one for none, so each attempt would take effect.
    name: 'mistakes: in idempotency keys',
    run: async (at) => {
      const [rest, control] = [
        await at.proxy(at.world.service.port),
        await at.proxy(at.world.service.grpcPort),
      ];
      const { client } = await at.house({ url: rest.url, control_url: control.url });
      const outcomes: Record<string, Outcome> = {};
      for (const [method, request, lengthMax] of [
        ['rooms.create', { room: 'lobby' }, 128],
        ['keys.create', { name: 'a', kind: 'relay' }, 255],
      ] as const) {
        for (const [what, key] of Object.entries(KEYS)) {
          const options = { idempotency_key: key ?? 'k'.repeat(lengthMax + 1) };
          outcomes[`${method}: ${what}`] = kindsOf(await client.call(method, request, options));
        }
      }
      return { outcomes, isSilent: rest.requests + control.requests === 0 };
    },
    expect: {
      outcomes: Object.fromEntries(
        ['rooms.create', 'keys.create'].flatMap((method) =>
          Object.keys(KEYS).map((what) => [`${method}: ${what}`, INVALID]),
        ),
      ),
      isSilent: true,
    },
  },
  {
    name: 'mistakes: in options',
    run: async (at) => {
      const outcomes: Record<string, Outcome> = {};
      for (const [what, options] of Object.entries(OPTIONS)) {
        outcomes[what] = kindsOf((await at.open({ api_key: 'svc_x', ...options })).outcome);
      }
      return outcomes;
    },
    expect: Object.fromEntries(Object.keys(OPTIONS).map((what) => [what, INVALID])),
  },
];

/** Without the fields: some languages tell by the type, before there is a request. */
function kindsOf({ ok, error }: Outcome): Outcome {
  return error === undefined ? { ok } : { error: { kind: error.kind, code: error.code } };
}
