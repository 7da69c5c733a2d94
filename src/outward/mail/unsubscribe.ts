/** What the link in an alert does: no more alerts of this tenant to this address, or alerts again. */
import { Failure } from '../../base/failure.ts';
import type { MailDeps } from './mail-deps.ts';
import { deleteUnsubscribe, findUnsubscribe, insertUnsubscribe } from './mail-settings.sql.ts';
import { openSubscription, type Subscription } from './unsubscribe-token.ts';

type Deps = Pick<MailDeps, 'db' | 'box'>;

export interface SubscriptionState {
  /** The address, in lower case. */
  readonly address: string;
  readonly tenantName: string;
  readonly unsubscribed: boolean;
}

/** Changes nothing. Fails with `not_found` if the token is not one of ours. */
export async function getSubscription(deps: Deps, token: string): Promise<SubscriptionState> {
  const { tenant, address } = read(deps, token);
  const found = await findUnsubscribe(deps.db, tenant, address);
  if (!found) throw new Failure('not_found');
  return { address, ...found };
}

/** Fails with `not_found` if the token is not one of ours. Doing it again changes nothing. */
export async function setSubscription(
  deps: Deps,
  token: string,
  wanted: { readonly unsubscribed: boolean },
): Promise<SubscriptionState> {
  const { tenant, address } = read(deps, token);
  const change = wanted.unsubscribed ? insertUnsubscribe : deleteUnsubscribe;
  await change(deps.db, tenant, address);
  return getSubscription(deps, token);
}

function read({ box }: Deps, token: string): Subscription {
  const subscription = openSubscription(box, token);
  if (!subscription) throw new Failure('not_found');
  return subscription;
}
