/** `/console/tenants/t_.../webhooks`: the webhooks of a tenant, and what became of deliveries to one. */
import { html } from '@boxoffice/pages/html';
import { getWebhook, listWebhooks } from '../../../../outward/webhooks/get-webhook.ts';
import { type Answer, page } from '../../../consoles/answer.ts';
import { codeOf, emptyState, named, timeOf } from '../../../consoles/components.ts';
import { facts } from '../../../consoles/table.ts';
import {
  asideText,
  givenUpText,
  hostOf,
  renderDeliveries,
  stateOf,
  webhooksTable,
} from '../../../consoles/webhooks-table.ts';
import { readNote } from '../read-note.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

export async function showTenantWebhooks(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  const webhooks = await listWebhooks(call.deps.db, tenant.id);
  const body = html`<h1>Webhooks of ${named(tenant.name)}</h1>
${
  webhooks.length === 0
    ? emptyState('It has no webhooks.', 'Its events are read over REST and gRPC, if at all.')
    : webhooksTable(`${tenantPath(tenant)}/webhooks`, webhooks, hostOf)
}
${readNote(tenant)}`;
  return page({ title: 'Webhooks', body });
}

export async function showTenantWebhook(call: LoggedInCall): Promise<Answer> {
  const { deps, params, query } = call;
  const tenant = await tenantOf(call);
  const webhook = await getWebhook(deps.db, tenant.id, params.id ?? '');
  const path = `${tenantPath(tenant)}/webhooks`;
  const asked = { db: deps.db, tenant: tenant.id, query };
  const { eventDays: keptDays } = deps.config;
  const site = { path: `${path}/${webhook.id}`, keptDays, hasDetails: false, showsAnswers: false };
  const body = html`<h1>Webhook of ${named(tenant.name)}</h1>
${facts('The webhook', {
  Id: html`<code>${webhook.id}</code>`,
  Host: named(hostOf(webhook)),
  Description: webhook.description && named(webhook.description),
  Events: webhook.types.length === 0 ? 'all' : webhook.types.map((type) => html`${codeOf(type)} `),
  State: html`${stateOf(webhook)} ${webhook.pausedAt && html`since ${timeOf(webhook.pausedAt)}`}`,
  'Failed attempts in a row': webhook.failures,
  'Delivered up to the event': webhook.seq,
  'Put aside': asideText(webhook) ?? 0,
  'Given up': givenUpText(webhook),
  Created: timeOf(webhook.createdAt),
})}
<h2>Deliveries</h2>
${await renderDeliveries(asked, webhook, site)}
<p><a href="${path}">All webhooks of the tenant</a></p>
${readNote(tenant)}`;
  return page({ title: 'Webhook', body });
}
