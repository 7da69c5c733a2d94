/** Every route of the operators' console. A test goes through the table, as with that of tenants. */

import { CALLBACK_PATH } from '../../../access/oidc/oidc-config.ts';
import type { ReadKind } from '../../../access/operators/note-read.ts';
import { redirect } from '../../consoles/answer.ts';
import { sendAsset } from '../../consoles/assets/send-asset.ts';
import { LIMIT_NAMES } from '../../tenant-limits.ts';
import { showAudit } from './pages/audit.ts';
import { showConflicts } from './pages/conflicts.ts';
import { showConfirm, showLink, showLogin, submitLink, submitLogout } from './pages/login.ts';
import { finishIssuerLogin, submitIssuerConfirm, submitIssuerLogin } from './pages/operator-oidc.ts';
import { showOverview } from './pages/overview.ts';
import { showParked, showPayments, submitDismissal, submitSettlement } from './pages/payments.ts';
import { CARD_FIELDS, showRates, submitCard, submitSimulation } from './pages/rates.ts';
import { showRevenue } from './pages/revenue.ts';
import {
  showSessions,
  showTenantSessions,
  submitEnding,
  submitEndingOthers,
  submitTenantEnding,
  submitTenantEndings,
} from './pages/sessions.ts';
import {
  showSigningKeys,
  submitActivation,
  submitDistrust,
  submitKeyRemoval,
  submitReplacement,
  submitRotation,
} from './pages/signing-keys.ts';
import { showTenant, submitConsoleLink, submitExemption, submitUnfreezing } from './pages/tenant.ts';
import { CREDIT_FIELDS, showCredit, submitCredit } from './pages/tenant-credit.ts';
import { showDetails, submitDetails, TENANT_DETAILS_FIELDS } from './pages/tenant-details.ts';
import { GRANT_FIELDS, showGrants, submitGrant, submitVoiding } from './pages/tenant-grants.ts';
import { showTenantLedger } from './pages/tenant-ledger.ts';
import { showLimits, submitLimits } from './pages/tenant-limits.ts';
import { showTenantMembers } from './pages/tenant-members.ts';
import { showTenantRoomSessions } from './pages/tenant-room-sessions.ts';
import { showStatus, submitStatus } from './pages/tenant-status.ts';
import { showTenantWebhook, showTenantWebhooks } from './pages/tenant-webhooks.ts';
import { showTenants } from './pages/tenants.ts';
import { showVerify, submitVerification } from './pages/verify.ts';
import type { OperatorRoute, OpsRoute } from './route.ts';

function show(path: string, handle: OperatorRoute['handle']): OperatorRoute {
  return { method: 'GET', path, needs: 'operator', handle };
}

/** A page of what a tenant has. */
function read(path: string, reads: ReadKind, handle: OperatorRoute['handle']): OperatorRoute {
  return { ...show(path, handle), reads };
}

/** A form that changes something, or costs much. */
function submit(
  path: string,
  handle: OperatorRoute['handle'],
  { fields = [], isDangerous = false }: Pick<OperatorRoute, 'fields' | 'isDangerous'> = {},
): OperatorRoute {
  return { method: 'POST', path, needs: 'operator', fields, isDangerous, handle };
}

const TENANT = '/console/tenants/:tenant';
const KEYS = '/console/signing-keys';

export const OPS_ROUTES: readonly OpsRoute[] = [
  { method: 'GET', path: '/', needs: 'nothing', handle: async () => redirect('/console') },
  { method: 'GET', path: '/console/assets/:file', needs: 'nothing', handle: sendAsset },
  { method: 'GET', path: '/console/login', needs: 'nothing', handle: showLogin },
  { method: 'POST', path: '/console/login/oidc', needs: 'nothing', handle: submitIssuerLogin },
  { method: 'GET', path: CALLBACK_PATH, needs: 'nothing', handle: finishIssuerLogin },
  { method: 'GET', path: '/console/login/:token', needs: 'nothing', handle: showLink },
  { method: 'POST', path: '/console/login/:token', needs: 'nothing', handle: submitLink },
  { method: 'POST', path: '/console/logout', needs: 'nothing', handle: submitLogout },
  show('/console/confirm', showConfirm),
  submit('/console/confirm/oidc', submitIssuerConfirm),
  show('/console', showOverview),
  show('/console/tenants', showTenants),
  show(TENANT, showTenant),
  show(`${TENANT}/status`, showStatus),
  submit(`${TENANT}/status`, submitStatus, {
    isDangerous: true,
    fields: ['status', 'reason', 'told', 'confirm'],
  }),
  show(`${TENANT}/credit`, showCredit),
  submit(`${TENANT}/credit`, submitCredit, { isDangerous: true, fields: CREDIT_FIELDS }),
  show(`${TENANT}/grants`, showGrants),
  submit(`${TENANT}/grants`, submitGrant, { isDangerous: true, fields: GRANT_FIELDS }),
  submit(`${TENANT}/grants/void`, submitVoiding, { isDangerous: true, fields: ['grant', 'why'] }),
  show(`${TENANT}/limits`, showLimits),
  submit(`${TENANT}/limits`, submitLimits, { fields: [...LIMIT_NAMES, 'reason'] }),
  submit(`${TENANT}/exempt`, submitExemption, { isDangerous: true, fields: ['exempt'] }),
  submit(`${TENANT}/unfreeze`, submitUnfreezing),
  submit(`${TENANT}/console-link`, submitConsoleLink, { isDangerous: true }),
  read(`${TENANT}/details`, 'billing_details', showDetails),
  submit(`${TENANT}/details`, submitDetails, { fields: TENANT_DETAILS_FIELDS }),
  read(`${TENANT}/ledger`, 'ledger', showTenantLedger),
  read(`${TENANT}/members`, 'members', showTenantMembers),
  read(`${TENANT}/room-sessions`, 'room_sessions', showTenantRoomSessions),
  read(`${TENANT}/webhooks`, 'webhooks', showTenantWebhooks),
  read(`${TENANT}/webhooks/:id`, 'webhooks', showTenantWebhook),
  show(`${TENANT}/sessions`, showTenantSessions),
  submit(`${TENANT}/sessions/end`, submitTenantEnding, { fields: ['session'] }),
  submit(`${TENANT}/sessions/end-all`, submitTenantEndings),
  show('/console/sessions', showSessions),
  submit('/console/sessions/end', submitEnding, { fields: ['session'] }),
  submit('/console/sessions/end-others', submitEndingOthers),
  show('/console/payments', showPayments),
  show('/console/payments/:id', showParked),
  submit('/console/payments/:id/settle', submitSettlement, { isDangerous: true }),
  submit('/console/payments/:id/dismiss', submitDismissal, { isDangerous: true, fields: ['reason'] }),
  show('/console/revenue', showRevenue),
  show('/console/conflicts', showConflicts),
  show('/console/rates', showRates),
  submit('/console/rates/simulate', submitSimulation, { fields: [...CARD_FIELDS, 'from', 'to', 'tenant'] }),
  submit('/console/rates/load', submitCard, { isDangerous: true, fields: [...CARD_FIELDS, 'confirm'] }),
  show(KEYS, showSigningKeys),
  submit(`${KEYS}/rotate`, submitRotation, { isDangerous: true }),
  submit(`${KEYS}/activate`, submitActivation, { isDangerous: true }),
  submit(`${KEYS}/replace`, submitReplacement, { isDangerous: true, fields: ['confirm'] }),
  submit(`${KEYS}/:kid/remove`, submitKeyRemoval, { isDangerous: true }),
  submit(`${KEYS}/:kid/distrust`, submitDistrust, { isDangerous: true }),
  show('/console/verify', showVerify),
  submit('/console/verify', submitVerification),
  show('/console/audit', showAudit),
];
