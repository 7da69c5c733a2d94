/**
 * Every picture of the two consoles. A new page is one entry here, and a run of `npm run screenshots`; a test compares the
 * entries with the tables of routes, with the files in docs/images/console and with docs/console-pictures.md.
 */

/** What the addresses of pages contain, once the stage is set. */
export interface Stage {
  /** The path of a link that logs in. */
  readonly link: string;
  readonly operatorLink: string;
  readonly tenant: string;
  /** The id of a usage record. */
  readonly record: string;
  /** `2026-11`: a month that is over. */
  readonly month: string;
  readonly key: string;
  readonly device: string;
  readonly agent: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly member: string;
  readonly erasure: string;
  readonly session: string;
  readonly roomUid: string;
  readonly parked: string;
}

export interface Picture {
  /** As the table of routes has it. */
  readonly route: string;
  /** The name of the files: `<name>-light.png`. */
  readonly name: string;
  /** The heading over it in docs/console-pictures.md, where pictures of one group stand together. */
  readonly group: string;
  /** What it shows, for readers who do not see it. */
  readonly shows: string;
  /** Default: the route. */
  readonly path?: (stage: Stage) => string;
  /** Who looks. Default: a person who has just logged in. */
  readonly as?: 'nobody' | 'a member who logged in long ago' | 'a founder who has just joined';
  /** It has pictures of a phone, too. */
  readonly isOnPhone?: true;
  /** However long the page is. Default: only its top. */
  readonly isWhole?: true;
}

export const TENANT_PICTURES: readonly Picture[] = [
  { route: '/', name: 'home', group: 'Before the log-in', shows: 'What Boxoffice is', as: 'nobody' },
  {
    route: '/console/signup',
    name: 'signup',
    group: 'Before the log-in',
    shows: 'Sign up with a name and an address',
    as: 'nobody',
  },
  {
    route: '/console/login',
    name: 'login',
    group: 'Before the log-in',
    shows: 'Ask for a link by mail',
    as: 'nobody',
  },
  {
    route: '/console/login/:token',
    name: 'link',
    group: 'Before the log-in',
    shows: 'The page of such a link',
    path: ({ link }) => link,
    as: 'nobody',
  },
  {
    route: '/console/confirm',
    name: 'confirm',
    group: 'Before the log-in',
    shows: 'Log in again before a change of keys',
    as: 'a member who logged in long ago',
  },
  {
    route: '/console/tenants',
    name: 'tenants',
    group: 'Before the log-in',
    shows: 'Move between tenants',
  },
  {
    route: '/console/review',
    name: 'review',
    group: 'Before the log-in',
    shows: 'What a founder keeps of what existed before',
    as: 'a founder who has just joined',
  },
  {
    route: '/console',
    name: 'overview',
    group: 'Overview',
    shows: 'Balance, spend, runway and the newest entries',
    isOnPhone: true,
  },
  {
    route: '/console/start',
    name: 'start',
    group: 'Overview',
    shows: 'From the signup to the first usage',
  },
  {
    route: '/console/spend',
    name: 'spend',
    group: 'Money',
    shows: 'Spend by day, hour or month, and by role, tier or room',
    path: () => '/console/spend?by=room',
    isOnPhone: true,
  },
  {
    route: '/console/ledger',
    name: 'ledger',
    group: 'Money',
    shows: 'The entries of the ledger, with filters',
    isOnPhone: true,
  },
  {
    route: '/console/room-sessions',
    name: 'room-sessions',
    group: 'Money',
    shows: 'Who was in rooms, how long, and what it cost',
    isOnPhone: true,
  },
  {
    route: '/console/room-sessions/:id',
    name: 'room-session',
    group: 'Money',
    shows: 'One session, with its usage by tier and its newest records',
    path: ({ session }) => `/console/room-sessions/${session}`,
  },
  {
    route: '/console/room-cost/:uid',
    name: 'room-cost',
    group: 'Money',
    shows: 'What a room cost, with what is unassigned',
    path: ({ roomUid }) => `/console/room-cost/${roomUid}`,
  },
  {
    route: '/console/charge',
    name: 'charge',
    group: 'Money',
    shows: 'How one charge came about',
    path: ({ record }) => `/console/charge?id=${record}`,
  },
  { route: '/console/statements', name: 'statements', group: 'Money', shows: 'The statements of all months' },
  {
    route: '/console/billing-details',
    name: 'billing-details',
    group: 'Money',
    shows: 'The name, address and tax id on statements, and the time zone',
    isWhole: true,
  },
  {
    route: '/console/statements/:month',
    name: 'statement',
    group: 'Money',
    shows: 'The statement of a month',
    path: ({ month }) => `/console/statements/${month}`,
  },
  {
    route: '/console/payments',
    name: 'payments',
    group: 'Money',
    shows: 'Payments of a period, with receipts and invoices',
  },
  {
    route: '/console/conflicts',
    name: 'conflicts',
    group: 'Money',
    shows: 'Ids that came again with other values',
  },
  {
    route: '/console/prices',
    name: 'prices',
    group: 'Money',
    shows: 'Prices, and what a room would cost',
    path: () => '/console/prices?people=120&minutes=90&role=audience&tier=full_hd&gib=1.2',
  },
  { route: '/console/top-up', name: 'top-up', group: 'Money', shows: 'Automatic top-up from the saved card' },
  { route: '/console/budgets', name: 'budgets', group: 'Money', shows: 'Budgets, and what is left of them' },
  {
    route: '/console/budgets/:id/delete',
    name: 'budget-deletion',
    group: 'Money',
    shows: 'Delete a budget',
    path: () => '/console/budgets/tour/delete',
  },
  { route: '/console/rooms', name: 'rooms', group: 'Rooms', shows: 'Live rooms, and their newest events' },
  {
    route: '/console/rooms/at/:room',
    name: 'room',
    group: 'Rooms',
    shows: 'A room, who is in it, and what happens',
    path: () => '/console/rooms/at/main-stage',
    isOnPhone: true,
  },
  {
    route: '/console/rooms/at/:room/person',
    name: 'person',
    group: 'Rooms',
    shows: 'A participant: mute, kick, ban',
    path: () => '/console/rooms/at/main-stage/person?name=rosalind',
  },
  { route: '/console/rooms/bans', name: 'bans', group: 'Rooms', shows: 'Bans' },
  { route: '/console/rooms/watchdogs', name: 'watchdogs', group: 'Rooms', shows: 'Watchdogs of all rooms' },
  {
    route: '/console/people',
    name: 'people',
    group: 'Rooms',
    shows: 'What is known of a person',
    path: () => '/console/people?name=heckler',
  },
  {
    route: '/console/people/erasures/:id',
    name: 'erasure',
    group: 'Rooms',
    shows: 'How far an erasure is',
    path: ({ erasure }) => erasure,
  },
  { route: '/console/alerts', name: 'alerts', group: 'Alerts', shows: 'Runway, dearest rooms, thresholds' },
  { route: '/console/mail', name: 'mail', group: 'Alerts', shows: 'Who gets mail, and which' },
  { route: '/console/webhooks', name: 'webhooks', group: 'Alerts', shows: 'Webhooks' },
  {
    route: '/console/webhooks/:id',
    name: 'webhook',
    group: 'Alerts',
    shows: 'A webhook and its deliveries',
    path: ({ webhook }) => `/console/webhooks/${webhook}`,
  },
  {
    route: '/console/webhooks/:id/deliveries/:delivery',
    name: 'webhook-delivery',
    group: 'Alerts',
    shows: 'A delivery: its request, its answer, and programs that verify it',
    path: ({ webhook, delivery }) => `/console/webhooks/${webhook}/deliveries/${delivery}`,
  },
  {
    route: '/console/webhooks/:id/dead-letters',
    name: 'webhook-dead-letters',
    group: 'Alerts',
    shows: 'Events that were given up',
    path: ({ webhook }) => `/console/webhooks/${webhook}/dead-letters`,
  },
  {
    route: '/console/webhooks/:id/headers',
    name: 'webhook-headers',
    group: 'Alerts',
    shows: 'Headers and authentication of a webhook',
    path: ({ webhook }) => `/console/webhooks/${webhook}/headers`,
  },
  {
    route: '/console/webhooks/:id/delete',
    name: 'webhook-deletion',
    group: 'Alerts',
    shows: 'Delete a webhook',
    path: ({ webhook }) => `/console/webhooks/${webhook}/delete`,
  },
  { route: '/console/keys', name: 'keys', group: 'Keys', shows: 'API keys', isOnPhone: true },
  {
    route: '/console/keys/:id',
    name: 'key',
    group: 'Keys',
    shows: 'A key, and how often it was used',
    path: ({ key }) => `/console/keys/${key}`,
  },
  {
    route: '/console/keys/:id/revoke',
    name: 'key-revocation',
    group: 'Keys',
    shows: 'Revoke a key',
    path: ({ key }) => `/console/keys/${key}/revoke`,
  },
  { route: '/console/devices', name: 'devices', group: 'Keys', shows: 'Device credentials' },
  {
    route: '/console/devices/:id/revoke',
    name: 'device-revocation',
    group: 'Keys',
    shows: 'Revoke a device credential',
    path: ({ device }) => `/console/devices/${device}/revoke`,
  },
  {
    route: '/console/agents',
    name: 'agents',
    group: 'Keys',
    shows: 'Keys for agents, and what they may write',
  },
  {
    route: '/console/agents/:id/revoke',
    name: 'agent-revocation',
    group: 'Keys',
    shows: 'Revoke a key for agents',
    path: ({ agent }) => `/console/agents/${agent}/revoke`,
  },
  { route: '/console/members', name: 'members', group: 'Members', shows: 'Who may use the console' },
  {
    route: '/console/members/:id/remove',
    name: 'member-removal',
    group: 'Members',
    shows: 'Remove a member',
    path: ({ member }) => `/console/members/${member}/remove`,
  },
  { route: '/console/audit', name: 'audit', group: 'Members', shows: 'The audit trail' },
  { route: '/console/passkeys', name: 'passkeys', group: 'Members', shows: 'Your own passkeys' },
  { route: '/console/sessions', name: 'sessions', group: 'Members', shows: 'Where you are logged in' },
  {
    route: '/console/export',
    name: 'export',
    group: 'Members',
    shows: 'Everything that is stored, as a file',
  },
];

export const OPERATOR_PICTURES: readonly Picture[] = [
  {
    route: '/console/login',
    name: 'operators-login',
    group: 'Log in',
    shows: 'How operators log in',
    as: 'nobody',
  },
  {
    route: '/console/login/:token',
    name: 'operators-link',
    group: 'Log in',
    shows: 'The page of a link',
    path: ({ operatorLink }) => operatorLink,
    as: 'nobody',
  },
  {
    route: '/console/confirm',
    name: 'operators-confirm',
    group: 'Log in',
    shows: 'Log in again before a dangerous change',
    as: 'a member who logged in long ago',
  },
  {
    route: '/console',
    name: 'operators-overview',
    group: 'Overview',
    shows: 'Whether all is well',
    isOnPhone: true,
  },
  { route: '/console/tenants', name: 'operators-tenants', group: 'Tenants', shows: 'Search tenants' },
  {
    route: '/console/tenants/:tenant',
    name: 'operators-tenant',
    group: 'Tenants',
    shows: 'A tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}`,
  },
  {
    route: '/console/tenants/:tenant/status',
    name: 'operators-status',
    group: 'Tenants',
    shows: 'Change the status of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/status`,
  },
  {
    route: '/console/tenants/:tenant/credit',
    name: 'operators-credit',
    group: 'Tenants',
    shows: 'Adjust the credit of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/credit`,
  },
  {
    route: '/console/tenants/:tenant/grants',
    name: 'operators-grants',
    group: 'Tenants',
    shows: 'Grants of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/grants`,
  },
  {
    route: '/console/tenants/:tenant/limits',
    name: 'operators-limits',
    group: 'Tenants',
    shows: 'Change the limits of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/limits`,
  },
  {
    route: '/console/tenants/:tenant/details',
    name: 'operators-details',
    group: 'Tenants',
    shows: 'The name and the billing details of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/details`,
  },
  {
    route: '/console/tenants/:tenant/ledger',
    name: 'operators-ledger',
    group: 'Tenants',
    shows: 'The ledger of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/ledger`,
  },
  {
    route: '/console/tenants/:tenant/members',
    name: 'operators-members',
    group: 'Tenants',
    shows: 'The members of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/members`,
  },
  {
    route: '/console/tenants/:tenant/room-sessions',
    name: 'operators-room-sessions',
    group: 'Tenants',
    shows: 'Sessions in rooms of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/room-sessions`,
  },
  {
    route: '/console/tenants/:tenant/webhooks',
    name: 'operators-webhooks',
    group: 'Tenants',
    shows: 'The webhooks of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/webhooks`,
  },
  {
    route: '/console/tenants/:tenant/webhooks/:id',
    name: 'operators-webhook',
    group: 'Tenants',
    shows: 'Deliveries to a webhook of a tenant',
    path: ({ tenant, webhook }) => `/console/tenants/${tenant}/webhooks/${webhook}`,
  },
  {
    route: '/console/tenants/:tenant/sessions',
    name: 'operators-tenant-sessions',
    group: 'Tenants',
    shows: 'Who is at the console of a tenant',
    path: ({ tenant }) => `/console/tenants/${tenant}/sessions`,
  },
  {
    route: '/console/payments',
    name: 'operators-payments',
    group: 'Payments',
    shows: 'Parked notifications, top-ups, disputes, fraud warnings',
  },
  {
    route: '/console/payments/:id',
    name: 'operators-parked',
    group: 'Payments',
    shows: 'A parked notification',
    path: ({ parked }) => `/console/payments/${parked}`,
  },
  {
    route: '/console/revenue',
    name: 'operators-revenue',
    group: 'Payments',
    shows: 'The revenue of a month',
  },
  {
    route: '/console/conflicts',
    name: 'operators-conflicts',
    group: 'Conflicts',
    shows: 'Ids that were reported again with other values',
  },
  { route: '/console/rates', name: 'operators-rates', group: 'Rates', shows: 'Rate cards, and a draft' },
  {
    route: '/console/signing-keys',
    name: 'operators-signing-keys',
    group: 'Signing keys',
    shows: 'The keys that sign tokens',
  },
  {
    route: '/console/verify',
    name: 'operators-verify',
    group: 'Verify',
    shows: 'Everything added up again',
  },
  {
    route: '/console/sessions',
    name: 'operators-sessions',
    group: 'Sessions',
    shows: 'Where an operator is logged in',
  },
  { route: '/console/audit', name: 'operators-audit', group: 'Audit', shows: 'The audit trail of all' },
];

/** Routes that are no pages: files, streams, and the way to another page. */
export const NO_PAGES: readonly string[] = [
  '/console/assets/:file',
  '/console/login/oidc/callback',
  '/console/ledger.csv',
  '/console/payments.csv',
  '/console/room-sessions.csv',
  '/console/payments/:id/receipt',
  '/console/payments/:id/invoice',
  '/console/spend.csv',
  '/console/statements/:month/csv',
  '/console/rooms/events',
  '/console/overview/events',
  '/console/people/export',
];

export const OPERATORS_NO_PAGES: readonly string[] = [
  '/',
  '/console/assets/:file',
  '/console/login/oidc/callback',
];

/** Each picture exists in these looks. */
export const LOOKS = ['light', 'dark'] as const;

/** The files of a picture, in docs/images/console. */
export function filesOf({ name, isOnPhone }: Pick<Picture, 'name' | 'isOnPhone'>): string[] {
  return LOOKS.flatMap((look) => [
    `${name}-${look}.png`,
    ...(isOnPhone ? [`${name}-phone-${look}.png`] : []),
  ]);
}
