/** Every route of the console. A test goes through the table: what each role may do, and that no other site may post. */
import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import { sendAsset } from '../consoles/assets/send-asset.ts';
import { MONEY_ROUTES } from './money-routes.ts';
import { OIDC_ROUTES } from './oidc-routes.ts';
import { showBans, submitBan, submitUnban } from './pages/bans.ts';
import { showHome } from './pages/home.ts';
import { INVITATION_FIELDS } from './pages/invitations.ts';
import { showKey } from './pages/key.ts';
import {
  showKeys,
  showRevocation,
  submitFirstKeys,
  submitKey,
  submitRevocation,
  submitRotation,
} from './pages/keys.ts';
import { showCharge, showLedger } from './pages/ledger.ts';
import {
  exchangeKey,
  showConfirm,
  showLink,
  showLogin,
  submitConfirm,
  submitLink,
  submitLogin,
  submitLogout,
} from './pages/login.ts';
import {
  showMembers,
  showRemoval,
  submitInvitation,
  submitInvitingAgain,
  submitRemoval,
  submitRole,
} from './pages/members.ts';
import { showOverview } from './pages/overview.ts';
import { sendCards } from './pages/overview-cards.ts';
import { submitCheckout } from './pages/pay.ts';
import { sendPerson, showErasure, showPeople, submitErasure } from './pages/people.ts';
import { REVIEW_FIELDS, showReview, submitReview } from './pages/review.ts';
import { DESK_FIELDS } from './pages/room-desk.ts';
import { sendRoomEvents } from './pages/room-feed.ts';
import {
  showPerson,
  submitKick,
  submitMute,
  submitPersonBan,
  submitPersonUnban,
  submitUnmute,
} from './pages/room-person.ts';
import { showRoom, showRooms, submitEnd } from './pages/rooms.ts';
import { showSessions, submitEnding, submitEndingOfMember, submitEndingOthers } from './pages/sessions.ts';
import { showSignup, submitSignup } from './pages/signup.ts';
import { sendSpend, showSpend } from './pages/spend.ts';
import { showStart } from './pages/start.ts';
import { sendStatement, showStatement, showStatements } from './pages/statements.ts';
import { showTenants, submitInvitationAnswer, submitTenant } from './pages/tenants.ts';
import { showWatchdogs, submitWatchdog, submitWatchdogDeletion } from './pages/watchdogs.ts';
import { PASSKEY_ROUTES } from './passkey-routes.ts';
import type { ConsoleRoute } from './route.ts';
import { SETTINGS_ROUTES } from './settings-routes.ts';

export const ROUTES: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/', needs: 'nothing', handle: showHome },
  { method: 'GET', path: '/console/assets/:file', needs: 'nothing', handle: sendAsset },
  { method: 'GET', path: '/console/signup', needs: 'nothing', handle: showSignup },
  {
    method: 'POST',
    path: '/console/signup',
    needs: 'nothing',
    fields: ['name', 'email'],
    handle: submitSignup,
  },
  { method: 'GET', path: '/console/login', needs: 'nothing', handle: showLogin },
  {
    method: 'POST',
    path: '/console/login',
    needs: 'nothing',
    fields: ['email', 'next'],
    handle: submitLogin,
  },
  ...OIDC_ROUTES,
  { method: 'GET', path: '/console/login/:token', needs: 'nothing', handle: showLink },
  {
    method: 'POST',
    path: '/console/login/:token',
    needs: 'nothing',
    fields: INVITATION_FIELDS,
    handle: submitLink,
  },
  { method: 'POST', path: '/console/session', needs: 'nothing', isForPrograms: true, handle: exchangeKey },
  { method: 'POST', path: '/console/logout', needs: 'nothing', handle: submitLogout },
  { method: 'GET', path: '/console/confirm', needs: 'session', handle: showConfirm },
  { method: 'POST', path: '/console/confirm', needs: 'session', fields: ['next'], handle: submitConfirm },
  { method: 'GET', path: '/console/tenants', needs: 'session', handle: showTenants },
  {
    method: 'POST',
    path: '/console/tenants',
    needs: 'session',
    fields: ['tenant', 'next'],
    worksIn: ['suspended', 'archived'],
    handle: submitTenant,
  },
  {
    method: 'POST',
    path: '/console/tenants/invitations',
    needs: 'session',
    fields: INVITATION_FIELDS,
    handle: submitInvitationAnswer,
  },
  { method: 'GET', path: '/console/review', needs: 'session', handle: showReview },
  {
    method: 'POST',
    path: '/console/review',
    needs: 'session',
    isDangerous: true,
    fields: REVIEW_FIELDS,
    handle: submitReview,
  },
  { method: 'GET', path: '/console', needs: 'see_overview', handle: showOverview },
  { method: 'GET', path: '/console/overview/events', needs: 'see_overview', handle: sendCards },
  { method: 'GET', path: '/console/start', needs: 'see_overview', handle: showStart },
  {
    method: 'POST',
    path: '/console/start/keys',
    needs: 'change_keys',
    isDangerous: true,
    fields: ['form'],
    handle: submitFirstKeys,
  },
  {
    method: 'POST',
    path: '/console/checkout',
    needs: 'pay',
    queue: 'provider calls',
    worksIn: ['suspended'],
    fields: ['dollars'],
    handle: submitCheckout,
  },
  { method: 'GET', path: '/console/spend', needs: 'see_money', queue: 'heavy reads', handle: showSpend },
  { method: 'GET', path: '/console/spend.csv', needs: 'see_money', queue: 'heavy reads', handle: sendSpend },
  { method: 'GET', path: '/console/ledger', needs: 'see_money', handle: showLedger },
  { method: 'GET', path: '/console/charge', needs: 'see_money', handle: showCharge },
  { method: 'GET', path: '/console/statements', needs: 'see_money', handle: showStatements },
  {
    method: 'GET',
    path: '/console/statements/:month',
    needs: 'see_money',
    queue: 'heavy reads',
    handle: showStatement,
  },
  {
    method: 'GET',
    path: '/console/statements/:month/csv',
    needs: 'see_money',
    queue: 'heavy reads',
    handle: sendStatement,
  },
  { method: 'GET', path: '/console/rooms', needs: 'see_rooms', handle: showRooms },
  { method: 'GET', path: '/console/rooms/events', needs: 'see_rooms', handle: sendRoomEvents },
  { method: 'GET', path: '/console/rooms/at/:room', needs: 'see_rooms', handle: showRoom },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/end',
    needs: 'moderate',
    fields: ['reason', 'confirm'],
    handle: submitEnd,
  },
  { method: 'GET', path: '/console/rooms/at/:room/person', needs: 'see_rooms', handle: showPerson },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/kick',
    needs: 'moderate',
    fields: [...DESK_FIELDS, 'username', 'audio', 'scope', 'time', 'reason'],
    handle: submitKick,
  },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/mute',
    needs: 'moderate',
    fields: [...DESK_FIELDS, 'username', 'scope', 'time', 'reason', ...PUBLISH_RIGHTS],
    handle: submitMute,
  },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/unmute',
    needs: 'moderate',
    fields: [...DESK_FIELDS, 'username', 'scope', 'time', 'reason', ...PUBLISH_RIGHTS],
    handle: submitUnmute,
  },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/ban',
    needs: 'moderate',
    fields: [...DESK_FIELDS, 'username', 'audio', 'scope', 'time', 'reason'],
    handle: submitPersonBan,
  },
  {
    method: 'POST',
    path: '/console/rooms/at/:room/unban',
    needs: 'moderate',
    fields: [...DESK_FIELDS, 'username', 'scope'],
    handle: submitPersonUnban,
  },
  { method: 'GET', path: '/console/rooms/bans', needs: 'see_rooms', handle: showBans },
  {
    method: 'POST',
    path: '/console/rooms/bans',
    needs: 'moderate',
    fields: ['kind', 'subject', 'room', 'time', 'reason'],
    handle: submitBan,
  },
  {
    method: 'POST',
    path: '/console/rooms/bans/lift',
    needs: 'moderate',
    fields: ['kind', 'subject', 'room'],
    handle: submitUnban,
  },
  { method: 'GET', path: '/console/rooms/watchdogs', needs: 'see_rooms', handle: showWatchdogs },
  {
    method: 'POST',
    path: '/console/rooms/watchdogs',
    needs: 'moderate',
    fields: ['room', 'condition', 'minutes', 'action', 'warning'],
    handle: submitWatchdog,
  },
  {
    method: 'POST',
    path: '/console/rooms/watchdogs/:id/delete',
    needs: 'moderate',
    handle: submitWatchdogDeletion,
  },
  { method: 'GET', path: '/console/people', needs: 'erase_people', handle: showPeople },
  { method: 'GET', path: '/console/people/export', needs: 'erase_people', handle: sendPerson },
  {
    method: 'POST',
    path: '/console/people/erase',
    needs: 'erase_people',
    isDangerous: true,
    isTyped: true,
    fields: ['participant', 'confirm'],
    handle: submitErasure,
  },
  { method: 'GET', path: '/console/people/erasures/:id', needs: 'erase_people', handle: showErasure },
  { method: 'GET', path: '/console/keys', needs: 'see_keys', handle: showKeys },
  {
    method: 'POST',
    path: '/console/keys',
    needs: 'change_keys',
    isDangerous: true,
    isTyped: true,
    fields: ['form', 'name', 'kind'],
    handle: submitKey,
  },
  { method: 'GET', path: '/console/keys/:id', needs: 'see_keys', handle: showKey },
  {
    method: 'POST',
    path: '/console/keys/:id/rotate',
    needs: 'change_keys',
    isDangerous: true,
    fields: ['form', 'overlap'],
    handle: submitRotation,
  },
  {
    method: 'GET',
    path: '/console/keys/:id/revoke',
    needs: 'change_keys',
    isDangerous: true,
    handle: showRevocation,
  },
  {
    method: 'POST',
    path: '/console/keys/:id/revoke',
    needs: 'change_keys',
    isDangerous: true,
    fields: ['confirm'],
    handle: submitRevocation,
  },
  { method: 'GET', path: '/console/members', needs: 'see_members', handle: showMembers },
  {
    method: 'POST',
    path: '/console/members',
    needs: 'change_members',
    isDangerous: true,
    isTyped: true,
    fields: ['email', 'role'],
    handle: submitInvitation,
  },
  {
    method: 'POST',
    path: '/console/members/:id/role',
    needs: 'change_members',
    isDangerous: true,
    fields: ['role'],
    handle: submitRole,
  },
  {
    method: 'POST',
    path: '/console/members/:id/invite',
    needs: 'change_members',
    isDangerous: true,
    handle: submitInvitingAgain,
  },
  {
    method: 'GET',
    path: '/console/members/:id/remove',
    needs: 'change_members',
    isDangerous: true,
    handle: showRemoval,
  },
  {
    method: 'POST',
    path: '/console/members/:id/remove',
    needs: 'change_members',
    isDangerous: true,
    handle: submitRemoval,
  },
  { method: 'GET', path: '/console/sessions', needs: 'session', handle: showSessions },
  {
    method: 'POST',
    path: '/console/sessions/end',
    needs: 'session',
    fields: ['session'],
    handle: submitEnding,
  },
  { method: 'POST', path: '/console/sessions/end-others', needs: 'session', handle: submitEndingOthers },
  {
    method: 'POST',
    path: '/console/sessions/of-members/end',
    needs: 'change_members',
    isDangerous: true,
    fields: ['session'],
    handle: submitEndingOfMember,
  },
  ...MONEY_ROUTES,
  ...PASSKEY_ROUTES,
  ...SETTINGS_ROUTES,
];
