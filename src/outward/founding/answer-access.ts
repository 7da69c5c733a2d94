/** A founder keeps or removes what existed before the address was proved. When all of it is answered, the console opens. */
import { revokeAgentKey } from '../../access/agents/revoke-agent-key.ts';
import { revokeCredential } from '../../access/devices/revoke-credential.ts';
import { markTrusted } from '../../access/keys/keys.sql.ts';
import type { KeyChanger } from '../../access/keys/lock-key.ts';
import { revokeKey } from '../../access/keys/revoke-key.ts';
import { removeMember } from '../../access/members/change-members.ts';
import { insertKept } from '../../access/members/kept-access.sql.ts';
import { markReviewed } from '../../access/members/members.sql.ts';
import type { AccessKind } from '../../access/members/other-access.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { lockAccount } from '../../money/accounts/accounts.sql.ts';
import { findPaymentSettings, trustTopUpKeys } from '../../money/payments/payments.sql.ts';
import { setAutoTopUp } from '../../money/top-ups/set-auto-top-up.ts';
import { deleteWebhook } from '../webhooks/delete-webhook.ts';
import { ACCESS_LISTED_MAX, digestOfAccess, findOtherAccess } from './list-other-access.ts';

/** The founder, at the console. */
export interface Founder {
  readonly member: string;
  readonly changer: KeyChanger;
}

/** Keep one. Fails with `not_found` if it is not there to be answered. */
export async function keepAccess(tx: Tx, founder: Founder, kind: AccessKind, id: string): Promise<void> {
  await answer(tx, founder, async () => {
    await findAsked(tx, founder, kind, id);
    await keep(tx, founder, kind, id);
  });
}

/** Keep all that the founder saw, by its `digestOfAccess()`. Returns false, and keeps nothing, if others are there by now. */
export async function keepOtherAccess(tx: Tx, founder: Founder, seen: string): Promise<boolean> {
  let isSeen = false;
  await answer(tx, founder, async () => {
    const left = await findOtherAccess(tx, founder.changer.tenant, founder.member, ACCESS_LISTED_MAX);
    isSeen = digestOfAccess(left) === seen;
    if (isSeen) for (const { kind, id } of left) await keep(tx, founder, kind, id);
  });
  return isSeen;
}

/** Remove one. Fails with `not_found` if it is not there to be answered. */
export async function removeAccess(tx: Tx, founder: Founder, kind: AccessKind, id: string): Promise<void> {
  await answer(tx, founder, async () => {
    await findAsked(tx, founder, kind, id);
    await remove(tx, founder, kind, id);
  });
}

/** Remove all that is not answered. Nothing more is made meanwhile: `lockForCaller()`. */
export async function removeOtherAccess(tx: Tx, founder: Founder): Promise<void> {
  await answer(tx, founder, async () => {
    const { tenant } = founder.changer;
    const findLeft = () => findOtherAccess(tx, tenant, founder.member, ACCESS_LISTED_MAX);
    for (let left = await findLeft(); left.length > 0; left = await findLeft()) {
      for (const { kind, id } of left) await remove(tx, founder, kind, id);
    }
  });
}

/** The last answer: what automatic top-up is set to stays, or it is turned off. Changes nothing before the others. */
export async function answerAutoTopUp(tx: Tx, founder: Founder, isKept: boolean): Promise<void> {
  const { tenant, actor } = founder.changer;
  await lockAll(tx, founder);
  if ((await findOtherAccess(tx, tenant, founder.member, 1)).length > 0) return;
  const { topUpKey } = await findPaymentSettings(tx, tenant);
  if (isKept && topUpKey !== null) await trustTopUpKeys(tx, tenant, [topUpKey]);
  const off = { enabled: false, below: null, amount: null };
  if (!isKept) await setAutoTopUp(tx, { actor, untrustedKey: null }, tenant, off);
  await markReviewed(tx, tenant, founder.member);
}

async function answer(tx: Tx, founder: Founder, act: () => Promise<void>): Promise<void> {
  const { tenant } = founder.changer;
  await lockAll(tx, founder);
  await act();
  const isLeft = (await findOtherAccess(tx, tenant, founder.member, 1)).length > 0;
  if (isLeft || (await findPaymentSettings(tx, tenant)).topUpEnabled) return;
  await markReviewed(tx, tenant, founder.member);
}

/** In the order of all transactions that change keys and settings of payments. */
async function lockAll(tx: Tx, { changer: { tenant } }: Founder): Promise<void> {
  await lockAccount(tx, tenant);
  await lockTenant(tx, tenant);
}

async function findAsked(
  tx: Tx,
  { member, changer: { tenant } }: Founder,
  kind: AccessKind,
  id: string,
): Promise<void> {
  const asked = await findOtherAccess(tx, tenant, member, ACCESS_LISTED_MAX);
  if (!asked.some((each) => each.kind === kind && each.id === id)) throw notFound('access');
}

async function keep(tx: Tx, { changer }: Founder, kind: AccessKind, id: string): Promise<void> {
  const { tenant, actor } = changer;
  await insertKept(tx, tenant, kind, id);
  if (kind === 'key') {
    await markTrusted(tx, tenant, id);
    await trustTopUpKeys(tx, tenant, [id]);
  }
  await appendAudit(tx, tenant, actor, {
    action: 'access_kept',
    subject: id,
    before: null,
    after: { kind },
  });
}

async function remove(tx: Tx, { changer }: Founder, kind: AccessKind, id: string): Promise<void> {
  switch (kind) {
    case 'key':
      return revokeKey(tx, changer, id, { stopServiceConfirmed: true });
    case 'device':
      await revokeCredential(tx, changer, id);
      return;
    case 'agent':
      await revokeAgentKey(tx, changer, id);
      return;
    case 'member':
      return removeMember(tx, changer, id);
    case 'webhook':
      return deleteWebhook(tx, changer, id);
  }
}
