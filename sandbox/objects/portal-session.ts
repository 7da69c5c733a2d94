/** Billing portal sessions: a short-lived link to a customer's receipts and cards. */
export interface PortalSession {
  readonly id: string;
  readonly created: number;
  /** The token in the link, which is the only secret needed to use the portal. */
  readonly token: string;
  readonly customer: string;
  readonly returnUrl: string | null;
  /** Set if the link only asks for a new card. */
  readonly flow: PortalFlow | null;
}

export interface PortalFlow {
  readonly type: 'payment_method_update';
  readonly completionUrl: string | null;
}

/** A link works for this long. */
export const PORTAL_SECONDS = 30 * 60;

export function renderPortalSession(session: PortalSession, publicUrl: string) {
  return {
    id: session.id,
    object: 'billing_portal.session',
    configuration: 'bpc_sandbox',
    created: session.created,
    customer: session.customer,
    customer_account: null,
    flow: session.flow === null ? null : renderFlow(session.flow),
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: session.returnUrl,
    url: `${publicUrl}/p/session/${session.token}`,
  };
}

function renderFlow({ type, completionUrl }: PortalFlow) {
  return {
    after_completion: {
      hosted_confirmation: null,
      redirect: completionUrl === null ? null : { return_url: completionUrl },
      type: completionUrl === null ? 'portal_homepage' : 'redirect',
    },
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update: null,
    subscription_update_confirm: null,
    type,
  };
}
