/** The methods of the SDK by the names that the conformance suite has for them. */
import type { Boxoffice, Listing } from '../src/backend/index.ts';

interface Options {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The suite sends requests of any shape; the SDK checks them. */
// biome-ignore lint/suspicious/noExplicitAny: requests of every method
type Request = any;

/** Methods with one answer. */
export const CALLS: Readonly<
  Record<string, (client: Boxoffice, request: Request, options: Options) => Promise<unknown>>
> = {
  'rooms.create': ({ rooms }, request, options) => rooms.create(request, options),
  'rooms.get': ({ rooms }, request, options) => rooms.get(request, options),
  'rooms.update_policy': ({ rooms }, request, options) => rooms.updatePolicy(request, options),
  'rooms.end': ({ rooms }, request, options) => rooms.end(request, options),
  'rooms.list_events': ({ rooms }, request, options) => rooms.listEvents(request, options),
  'participants.get': ({ participants }, request, options) => participants.get(request, options),
  'participants.erase': ({ participants }, request, options) =>
    participants.erase(request.participant, options),
  'participants.erasure': ({ participants }, request, options) => participants.erasure(request.id, options),
  'moderation.kick': ({ moderation }, request, options) => moderation.kick(request, options),
  'moderation.ban': ({ moderation }, request, options) => moderation.ban(request, options),
  'moderation.unban': ({ moderation }, request, options) => moderation.unban(request, options),
  'moderation.force_mute': ({ moderation }, request, options) => moderation.forceMute(request, options),
  'moderation.release_mute': ({ moderation }, request, options) => moderation.releaseMute(request, options),
  'moderation.revoke_publish': ({ moderation }, request, options) =>
    moderation.revokePublish(request, options),
  'moderation.restore_publish': ({ moderation }, request, options) =>
    moderation.restorePublish(request, options),
  'moderation.close_room': ({ moderation }, request, options) => moderation.closeRoom(request, options),
  'tokens.mint': ({ tokens }, request, options) => tokens.mint(request, options),
  'device_credentials.create': (client, request, options) =>
    client.deviceCredentials.create(request, options),
  'device_credentials.rotate': (client, request, options) =>
    client.deviceCredentials.rotate(request, options),
  'device_credentials.revoke': (client, request, options) =>
    client.deviceCredentials.revoke(request, options),
  'watchdogs.create': ({ watchdogs }, request, options) => watchdogs.create(request, options),
  'watchdogs.get': ({ watchdogs }, request, options) => watchdogs.get(request, options),
  'watchdogs.update': ({ watchdogs }, request, options) => watchdogs.update(request, options),
  'watchdogs.delete': ({ watchdogs }, request, options) => watchdogs.delete(request, options),
  'keys.list': ({ keys }, _request, options) => keys.list(options),
  'keys.create': ({ keys }, request, options) => keys.create(request, options),
  'keys.rotate': ({ keys }, request, options) => keys.rotate(request, options),
  'keys.revoke': ({ keys }, request, options) => keys.revoke(request, options),
  'billing.get': ({ billing }, _request, options) => billing.get(options),
  'billing.statements': ({ billing }, _request, options) => billing.statements(options),
  'billing.statement': ({ billing }, request, options) =>
    billing.statement(request.month, { ...options, soFar: request.soFar }),
  'billing.receipt': ({ billing }, request, options) => billing.receipt(request.id, options),
  'billing.checkout': ({ billing }, request, options) => billing.checkout(request, options),
  'billing.portal': ({ billing }, _request, options) => billing.portal(options),
  'billing.details': ({ billing }, _request, options) => billing.details(options),
  'billing.set_details': ({ billing }, request, options) => billing.setDetails(request, options),
  'billing.time_zone': ({ billing }, _request, options) => billing.timeZone(options),
  'billing.set_time_zone': ({ billing }, request, options) => billing.setTimeZone(request.timeZone, options),
  'billing.set_auto_top_up': ({ billing }, request, options) => billing.setAutoTopUp(request, options),
  'usage.report': ({ usage }, request, options) => usage.report(request.records, options),
  'usage.look_up': ({ usage }, request, options) => usage.lookUp(request.ids, options),
  'usage.summary': ({ usage }, request, options) => usage.summary(request, options),
  'usage.session': ({ usage }, request, options) => usage.session(request.id, options),
  'usage.room_cost': ({ usage }, request, options) => usage.roomCost(request.uid, options),
  'usage.explain': ({ usage }, request, options) => usage.explain(request.id, options),
  'rates.get': ({ rates }, _request, options) => rates.get(options),
  'rates.simulate': ({ rates }, request, options) => rates.simulate(request, options),
  'alerts.get': ({ alerts }, _request, options) => alerts.get(options),
  'alerts.set': ({ alerts }, request, options) => alerts.set(request.thresholds, options),
  'budgets.list': ({ budgets }, _request, options) => budgets.list(options),
  'budgets.get': ({ budgets }, request, options) => budgets.get(request.id, options),
  'budgets.set': ({ budgets }, request, options) => budgets.set(request, options),
  'budgets.delete': ({ budgets }, request, options) => budgets.delete(request.id, options),
  'billing.runway': ({ billing }, request, options) => billing.runway(request, options),
  'mail.get': ({ mail }, _request, options) => mail.get(options),
  'mail.set': ({ mail }, request, options) => mail.set(request, options),
  'webhooks.create': ({ webhooks }, request, options) => webhooks.create(request, options),
  'webhooks.list': ({ webhooks }, _request, options) => webhooks.list(options),
  'webhooks.get': ({ webhooks }, request, options) => webhooks.get(request.id, options),
  'webhooks.change': ({ webhooks }, request, options) => webhooks.change(request, options),
  'webhooks.delete': ({ webhooks }, request, options) => webhooks.delete(request.id, options),
  'webhooks.rotate_secret': ({ webhooks }, request, options) => webhooks.rotateSecret(request, options),
  'webhooks.test': ({ webhooks }, request, options) => webhooks.test(request.id, options),
  'webhooks.resend': ({ webhooks }, request, options) => webhooks.resend(request.id, request.seq, options),
  'webhooks.resend_since': ({ webhooks }, request, options) =>
    webhooks.resendSince(request.id, request.since, options),
  'webhooks.resend_failed': ({ webhooks }, request, options) =>
    webhooks.resendFailed(request.id, request.since, options),
  'webhooks.pull_events': ({ webhooks }, request, options) => webhooks.pullEvents(request, options),
};

/** Methods with pages. */
export const LISTS: Readonly<
  Record<string, (client: Boxoffice, request: Request, options: Options) => Listing<unknown>>
> = {
  'rooms.list': ({ rooms }, request, options) => rooms.list(request, options),
  'participants.list': ({ participants }, request, options) => participants.list(request, options),
  'moderation.list_bans': ({ moderation }, request, options) => moderation.listBans(request, options),
  'moderation.list_events': ({ moderation }, request, options) => moderation.listEvents(request, options),
  'device_credentials.list': (client, request, options) => client.deviceCredentials.list(request, options),
  'watchdogs.list': ({ watchdogs }, request, options) => watchdogs.list(request, options),
  'billing.ledger': ({ billing }, request, options) => billing.ledger(request, options),
  'billing.grants': ({ billing }, request, options) => billing.grants(request, options),
  'billing.payments': ({ billing }, request, options) => billing.payments(request, options),
  'usage.records': ({ usage }, request, options) => usage.records(request, options),
  'usage.sessions': ({ usage }, request, options) => usage.sessions(request, options),
  'usage.conflicts': ({ usage }, request, options) => usage.conflicts(request, options),
  'webhooks.deliveries': ({ webhooks }, { id, ...request }, options) =>
    webhooks.deliveries(id, request, options),
  'webhooks.dead_letters': ({ webhooks }, { id, ...request }, options) =>
    webhooks.deadLetters(id, request, options),
  'audit.list': ({ audit }, request, options) => audit.list(request, options),
};

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly silentMsMax?: number | undefined;
}

/** Methods with events. */
export const WATCHES: Readonly<
  Record<string, (client: Boxoffice, request: Request, options: WatchOptions) => AsyncIterable<object>>
> = {
  'rooms.watch': ({ rooms }, request, options) => rooms.watch(request, options),
  'participants.watch': ({ participants }, request, options) => participants.watch(request, options),
  'webhooks.follow_events': ({ webhooks }, request, options) => webhooks.followEvents(request, options),
};
