/** The actions of the audit trail, to choose one from. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Form } from '../http/form.ts';
import { capitalized, type Faults, select } from './components.ts';

/** Those of a tenant's trail. */
export const TENANT_ACTIONS: readonly string[] = [
  'access_kept',
  'agent_key_created',
  'agent_key_revoked',
  'alerts_changed',
  'auto_top_up_changed',
  'auto_top_up_requested',
  'auto_top_up_unfrozen',
  'billing_details_changed',
  'budget_changed',
  'budget_deleted',
  'budget_made',
  'charges_corrected',
  'console_link_made',
  'console_link_used',
  'credit_adjusted',
  'credit_granted',
  'device_credential_created',
  'device_credential_revoked',
  'device_credential_rotated',
  'erasure_requested',
  'grant_voided',
  'invitation_declined',
  'key_ceiling_changed',
  'key_created',
  'key_exchanged',
  'key_revoked',
  'key_rotated',
  'logged_in',
  'logged_out',
  'login_failed',
  'mail_settings_changed',
  'member_invited',
  'member_joined',
  'member_removed',
  'member_role_changed',
  'moderated',
  'operator_read',
  'parked_payment_dismissed',
  'passkey_added',
  'passkey_removed',
  'session_ended',
  'tenant_created',
  'tenant_exemption_changed',
  'tenant_exported',
  'tenant_limits_changed',
  'tenant_renamed',
  'tenant_status_changed',
  'time_zone_changed',
  'watchdog_created',
  'watchdog_deleted',
  'webhook_changed',
  'webhook_created',
  'webhook_deleted',
  'webhook_moved_back',
  'webhook_paused',
  'webhook_resent',
  'webhook_resumed',
  'webhook_rotated',
];

/** Those of the whole service, which operators alone see. */
export const SERVICE_ACTIONS: readonly string[] = [
  'operator_link_made',
  'operator_logged_in',
  'operator_logged_out',
  'operator_sessions_ended',
  'rates_loaded',
  'secrets_renewed',
  'signing_key_activated',
  'signing_key_distrusted',
  'signing_key_published',
  'signing_key_removed',
  'verification_started',
];

/** `key created`. */
export function actionText(action: string): string {
  return action.replaceAll('_', ' ');
}

/** The field `action`, as `actionOf()` reads it. What an address asks for is a choice too, whatever it is. */
export function actionField(query: Form, actions: readonly string[], faults: Faults): Html {
  const asked = (query.get('action') ?? '').trim().toLowerCase().replaceAll(' ', '_');
  const all = asked === '' || actions.includes(asked) ? actions : [asked, ...actions];
  const choices = all.map((value) => ({ value, text: capitalized(actionText(value)) }));
  return html`${select('action', 'Action', [{ value: '', text: 'All' }, ...choices], asked, faults)}`;
}
