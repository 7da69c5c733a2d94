/** What a tenant that has begun may want to do next. Each step goes away once it is done. */
import { type Html, html } from '@boxoffice/pages/html';
import { listMembers } from '../../../access/members/list-members.ts';
import { type Ability, mayDo } from '../../../access/rights/abilities.ts';
import { hasRooms } from '../../../control/rooms/list-rooms.ts';
import type { PaymentSettings } from '../../../money/payments/payment-settings.ts';
import { listWebhooks } from '../../../outward/webhooks/get-webhook.ts';
import type { SessionCall } from '../route.ts';

interface Step {
  readonly needs: Ability;
  readonly path: string;
  readonly title: string;
  readonly why: string;
  readonly isDone: () => boolean | Promise<boolean>;
}

/** `undefined`: the person can do nothing more. */
export async function renderNextSteps(
  { deps, session }: SessionCall,
  { topUpEnabled, paymentMethodId }: PaymentSettings,
  thresholds: number,
): Promise<Html | undefined> {
  const { tenant, role } = session;
  const steps: readonly Step[] = [
    {
      needs: 'change_alerts',
      path: '/console/alerts',
      title: 'Set an alert',
      why: 'Know before the credit is spent.',
      isDone: () => thresholds > 0,
    },
    {
      needs: 'pay',
      path: '/console/top-up',
      title: 'Turn on automatic top-up',
      why: 'The saved card pays when the balance is low.',
      isDone: () => topUpEnabled || paymentMethodId === null,
    },
    {
      needs: 'change_members',
      path: '/console/members',
      title: 'Invite a colleague',
      why: 'For money, for rooms, or only to look.',
      isDone: async () => (await listMembers(deps, tenant)).length > 1,
    },
    {
      needs: 'change_webhooks',
      path: '/console/webhooks',
      title: 'Add a webhook',
      why: 'Your back end hears what happens.',
      isDone: async () => (await listWebhooks(deps.db, tenant)).length > 0,
    },
    {
      needs: 'moderate',
      path: '/console/rooms',
      title: 'Open the first room',
      why: 'With lines to copy.',
      isDone: () => hasRooms(deps.db, tenant),
    },
  ];
  const own = steps.filter(({ needs }) => mayDo(role, needs));
  const open: Step[] = [];
  for (const step of own) if (!(await step.isDone())) open.push(step);
  if (open.length === 0) return undefined;
  return html`<section class="card"><h2>Next</h2>
<ul class="plain-list">${open.map(
    ({ path, title, why }) => html`<li><a href="${path}">${title}</a> <span class="hint">${why}</span></li>`,
  )}</ul></section>`;
}
