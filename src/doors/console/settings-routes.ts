/** Routes of what a tenant sets up: devices, agents, billing details and time zone, budgets, top-up, alerts, mail and webhooks; and of the audit trail of that. */
import { DETAILS_FIELDS } from '../consoles/billing-details-form.ts';
import {
  AGENT_FIELDS,
  showAgentRevocation,
  showAgents,
  submitAgent,
  submitAgentRevocation,
} from './pages/agents.ts';
import { showAlerts, submitAlert, submitAlertRemoval } from './pages/alerts.ts';
import { showAudit } from './pages/audit.ts';
import { showBillingDetails, submitBillingDetails, submitTimeZone } from './pages/billing-details.ts';
import {
  BUDGET_FIELDS,
  showBudgetDeletion,
  showBudgets,
  submitBudget,
  submitBudgetDeletion,
} from './pages/budgets.ts';
import {
  DEVICE_FIELDS,
  showDeviceRevocation,
  showDevices,
  submitDevice,
  submitDeviceRevocation,
  submitDeviceRotation,
} from './pages/devices.ts';
import { MAIL_FIELDS, showMail, submitMail } from './pages/mail.ts';
import { showTopUp, submitTopUp, submitTopUpNow } from './pages/top-up.ts';
import {
  showWebhook,
  showWebhookDeletion,
  submitPause,
  submitResend,
  submitResendSince,
  submitResumption,
  submitSecretRotation,
  submitTest,
  submitWebhookChange,
  submitWebhookDeletion,
} from './pages/webhook.ts';
import { showDeadLetters, submitDeadLetters } from './pages/webhook-dead-letters.ts';
import { showDelivery } from './pages/webhook-delivery.ts';
import { WEBHOOK_FIELDS } from './pages/webhook-form.ts';
import { HEADER_FIELDS } from './pages/webhook-header-fields.ts';
import { HEADERS_FIELDS, showHeaders, submitHeaders } from './pages/webhook-headers.ts';
import { showWebhooks, submitWebhook } from './pages/webhooks.ts';
import type { ConsoleRoute, GuardedRoute } from './route.ts';

/** A log-in of the last minutes is needed for what reveals a secret, moves money, or sends events and mail elsewhere. */
const isDangerous = true;

/** The same of a form in which something is typed. */
const typed = { isDangerous, isTyped: true };

function get(
  path: string,
  needs: GuardedRoute['needs'],
  handle: GuardedRoute['handle'],
  more: Pick<GuardedRoute, 'isDangerous'> = {},
): ConsoleRoute {
  return { method: 'GET', path, needs, handle, ...more };
}

function post(
  path: string,
  needs: GuardedRoute['needs'],
  fields: readonly string[],
  handle: GuardedRoute['handle'],
  more: Pick<GuardedRoute, 'isDangerous' | 'isTyped' | 'queue'> = {},
): ConsoleRoute {
  return { method: 'POST', path, needs, fields, handle, ...more };
}

const DEVICES: readonly ConsoleRoute[] = [
  get('/console/devices', 'see_keys', showDevices),
  post('/console/devices', 'change_keys', DEVICE_FIELDS, submitDevice, typed),
  post('/console/devices/:id/rotate', 'change_keys', ['form', 'overlap'], submitDeviceRotation, {
    isDangerous,
  }),
  get('/console/devices/:id/revoke', 'change_keys', showDeviceRevocation, { isDangerous }),
  post('/console/devices/:id/revoke', 'change_keys', [], submitDeviceRevocation, { isDangerous }),
];

const AGENTS: readonly ConsoleRoute[] = [
  get('/console/agents', 'see_agents', showAgents),
  post('/console/agents', 'change_agents', AGENT_FIELDS, submitAgent, typed),
  get('/console/agents/:id/revoke', 'change_agents', showAgentRevocation, { isDangerous }),
  post('/console/agents/:id/revoke', 'change_agents', [], submitAgentRevocation, { isDangerous }),
];

const WEBHOOKS: readonly ConsoleRoute[] = [
  get('/console/webhooks', 'see_webhooks', showWebhooks),
  post('/console/webhooks', 'change_webhooks', [...WEBHOOK_FIELDS, ...HEADER_FIELDS], submitWebhook, typed),
  get('/console/webhooks/:id', 'see_webhooks', showWebhook),
  get('/console/webhooks/:id/deliveries/:delivery', 'see_webhooks', showDelivery),
  post('/console/webhooks/:id', 'change_webhooks', WEBHOOK_FIELDS, submitWebhookChange, typed),
  get('/console/webhooks/:id/headers', 'change_webhooks', showHeaders, { isDangerous }),
  post('/console/webhooks/:id/headers', 'change_webhooks', HEADERS_FIELDS, submitHeaders, typed),
  post('/console/webhooks/:id/pause', 'change_webhooks', [], submitPause),
  post('/console/webhooks/:id/resume', 'change_webhooks', [], submitResumption),
  post('/console/webhooks/:id/rotate', 'change_webhooks', ['form', 'overlap'], submitSecretRotation, {
    isDangerous,
  }),
  get('/console/webhooks/:id/delete', 'change_webhooks', showWebhookDeletion, { isDangerous }),
  post('/console/webhooks/:id/delete', 'change_webhooks', [], submitWebhookDeletion, { isDangerous }),
  post('/console/webhooks/:id/test', 'change_webhooks', ['form'], submitTest, { queue: 'webhook calls' }),
  post('/console/webhooks/:id/resend', 'change_webhooks', ['form', 'seq'], submitResend, {
    queue: 'webhook calls',
  }),
  post('/console/webhooks/:id/resend-since', 'change_webhooks', ['since', 'what'], submitResendSince),
  get('/console/webhooks/:id/dead-letters', 'see_webhooks', showDeadLetters),
  post('/console/webhooks/:id/dead-letters', 'change_webhooks', [], submitDeadLetters),
];

export const SETTINGS_ROUTES: readonly ConsoleRoute[] = [
  ...DEVICES,
  ...AGENTS,
  ...WEBHOOKS,
  get('/console/alerts', 'see_alerts', showAlerts),
  post('/console/alerts', 'change_alerts', ['kind', 'below'], submitAlert),
  post('/console/alerts/remove', 'change_alerts', ['kind', 'below'], submitAlertRemoval),
  get('/console/mail', 'see_alerts', showMail),
  post('/console/mail', 'change_alerts', MAIL_FIELDS, submitMail, typed),
  get('/console/billing-details', 'see_money', showBillingDetails),
  post('/console/billing-details', 'pay', DETAILS_FIELDS, submitBillingDetails),
  post('/console/time-zone', 'pay', ['time_zone'], submitTimeZone),
  get('/console/budgets', 'see_money', showBudgets),
  post('/console/budgets', 'change_budgets', BUDGET_FIELDS, submitBudget, typed),
  get('/console/budgets/:id/delete', 'change_budgets', showBudgetDeletion, { isDangerous }),
  post('/console/budgets/:id/delete', 'change_budgets', [], submitBudgetDeletion, { isDangerous }),
  get('/console/top-up', 'see_money', showTopUp),
  post('/console/top-up', 'pay', ['enabled', 'below', 'amount'], submitTopUp, typed),
  post('/console/top-up/now', 'pay', [], submitTopUpNow, { isDangerous }),
  get('/console/audit', 'see_audit', showAudit),
];
