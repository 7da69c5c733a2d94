/** `/console/mail`: who gets mail about the tenant. */
import { html } from '@boxoffice/pages/html';
import { mayDo } from '../../../access/rights/abilities.ts';
import { actorOf } from '../../../access/sessions/session.ts';
import { inTransaction } from '../../../base/db/transaction.ts';
import { EMAIL_LENGTH_MAX } from '../../../base/tenants/tenant.ts';
import { getMailSettings } from '../../../outward/mail/get-mail-settings.ts';
import { ADDRESSES_MAX, type MailSettings, refuseAddress } from '../../../outward/mail/mail-settings.ts';
import { setMailSettings } from '../../../outward/mail/set-mail-settings.ts';
import { type Answer, done, page } from '../../consoles/answer.ts';
import { badge, checkbox, type Faults, field, freshNote, named } from '../../consoles/components.ts';
import { faultsOf, readFields } from '../../consoles/read-fields.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';

const ADDRESS_NAMES = Array.from({ length: ADDRESSES_MAX }, (_, at) => `address${at + 1}`);

export const MAIL_FIELDS = ['alerts', 'receipts', 'signup', ...ADDRESS_NAMES];

export async function showMail(call: SessionCall): Promise<Answer> {
  const { form } = call;
  return mailPage(call, form.size > 0 ? settingsOf(form) : undefined, {});
}

export async function submitMail(call: SessionCall): Promise<Answer> {
  const { deps, session, form, address } = call;
  const given = ADDRESS_NAMES.filter((name) => (form.get(name) ?? '').trim() !== '');
  const settings = settingsOf(form);
  try {
    readFields(
      Object.fromEntries(given.map((name, at) => [name, () => refuseAddress(settings.addresses, at)])),
    );
  } catch (error) {
    const faults = faultsOf(error);
    if (!faults) throw error;
    return mailPage(call, settings, faults, 400);
  }
  const actor = actorOf(session, address);
  await inTransaction(deps.db, (tx) => setMailSettings(tx, actor, session.tenant, settings));
  return done('/console/mail', 'The settings of mail are saved.');
}

function settingsOf(form: Form): MailSettings {
  return {
    signupAddress: form.has('signup'),
    addresses: ADDRESS_NAMES.map((name) => (form.get(name) ?? '').trim()).filter((text) => text !== ''),
    alerts: form.has('alerts'),
    receipts: form.has('receipts'),
  };
}

async function mailPage(
  { deps, session, form }: SessionCall,
  typed: MailSettings | undefined,
  faults: Faults,
  status = 200,
): Promise<Answer> {
  const stored = await getMailSettings(deps.db, session.tenant);
  const { signupAddress, addresses, alerts, receipts } = typed ?? stored;
  const mayChange = mayDo(session.role, 'change_alerts');
  const receivers = [...(signupAddress ? [stored.email] : []), ...addresses];
  const body = html`<h1>Mail</h1>
<p>Alerts ${badge(stored.alerts ? 'on' : 'off', stored.alerts ? 'good' : '')} Receipts ${badge(
    stored.receipts ? 'on' : 'off',
    stored.receipts ? 'good' : '',
  )}</p>
${mayChange && freshNote(session, 'To change this', '/console/mail')}
${
  stored.unsubscribed.length > 0 &&
  html`<p class="note">These want no alerts; a link in an alert changes that: ${stored.unsubscribed.map(
    (each) => html`${named(each)} `,
  )}</p>`
}
${
  mayChange && session.isFresh
    ? html`<section class="card"><form method="post" action="/console/mail" novalidate>
<fieldset><legend>What is sent</legend>
${checkbox('alerts', 'Alerts', alerts, 'What needs attention, such as a low balance.')}
${checkbox('receipts', 'Receipts', receipts, 'Each payment that was credited.')}</fieldset>
<fieldset><legend>To whom</legend>
${checkbox('signup', named(stored.email), signupAddress, 'The address of the signup.')}
${ADDRESS_NAMES.map((name, at) =>
  field({
    name,
    label: `Further address ${at + 1}`,
    value: typed ? form.get(name) : addresses[at],
    faults,
    input: html`type="email" autocomplete="off" maxlength="${EMAIL_LENGTH_MAX}"`,
  }),
)}</fieldset>
<p><button class="primary">Save</button></p></form></section>`
    : html`<h2>To whom</h2><ul>${receivers.map((each) => html`<li>${named(each)}</li>`)}</ul>
${receivers.length === 0 && html`<p>No address gets mail.</p>`}`
}`;
  return page({ title: 'Mail', body }, status);
}
