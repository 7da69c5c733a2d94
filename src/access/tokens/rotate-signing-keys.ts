/**
 * Rotates the signing keys on schedule, or earlier at an operator's request, which may fail with `invalid_request`.
 *
 * The state of the keys is in rows that change under one lock, by the clock of the database. So any number of
 * processes may run this at any time; the work is done once.
 */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { AuditedFields } from '../../base/audit/audit-entry.ts';
import type { Db, Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { StartError } from '../../base/lib/start-error.ts';
import { newSigningKey, type SigningKeyRow } from './signing-key.ts';
import {
  findSigningKeys,
  insertPendingKey,
  listSealedKeys,
  lockSigningKeys,
  markActive,
  markCompromised,
  markRemoved,
  markRetiring,
} from './signing-keys.sql.ts';

/** The service itself, by the schedule. */
const SCHEDULE: Actor = { kind: 'system', id: 'signing_keys' };

export interface SigningKeyDeps {
  /** Encrypts the private keys that the database keeps. */
  readonly box: SecretBox;
}

/**
 * Apply the schedule now. The first key of a deployment is active at once.
 *
 * Fails with `StartError` if SECRETS_KEY cannot decrypt the stored keys.
 */
export async function rotateOnSchedule(db: Pool, box: SecretBox): Promise<void> {
  await inLock(db, async (tx, keys) => {
    await checkSealedKeys(tx, box);
    for (const key of keys) if (key.state === 'retiring' && key.due) await remove(tx, SCHEDULE, key);

    const active = keys.find((key) => key.state === 'active');
    const pending = keys.find((key) => key.state === 'pending');
    // No relay can have cached the keys of a deployment that had none.
    if (!active) await activate(tx, SCHEDULE, keys, pending?.kid ?? (await publish(tx, SCHEDULE, box)));
    else if (pending?.due) await activate(tx, SCHEDULE, keys, pending.kid);
    else if (active.due && !pending) await publish(tx, SCHEDULE, box);
  });
}

/** Publish a successor, which the schedule activates an hour later. Returns its kid. */
export async function rotateSigningKey(db: Pool, actor: Actor, box: SecretBox): Promise<string> {
  return inLock(db, async (tx, keys) => {
    const pending = keys.find((key) => key.state === 'pending');
    if (pending) throw refusal(`${pending.kid} is pending already`);
    await checkSealedKeys(tx, box);
    return publish(tx, actor, box);
  });
}

/** Activate the pending key, if it has been published for long enough. Returns its kid. */
export async function activateSigningKey(db: Pool, actor: Actor): Promise<string> {
  return inLock(db, async (tx, keys) => {
    const pending = keys.find((key) => key.state === 'pending');
    if (!pending) throw refusal('no key is pending: rotate first');
    if (!pending.due) {
      throw refusal(
        `${pending.kid} has been published for less than an hour: relays would refuse its tokens`,
      );
    }
    await activate(tx, actor, keys, pending.kid);
    return pending.kid;
  });
}

/**
 * Replace keys that may have leaked: a new key is active and all others are removed at once. A relay refuses
 * the tokens they signed as soon as it reads the published keys again. Statements are no longer verified by them.
 */
export async function replaceCompromisedKeys(db: Pool, actor: Actor, box: SecretBox): Promise<string> {
  return inLock(db, async (tx, keys) => {
    for (const key of keys) if (key.state !== 'removed') await distrust(tx, actor, key);
    const kid = await publish(tx, actor, box);
    await activate(tx, actor, [], kid);
    return kid;
  });
}

/** Remove a key that is not active and signed no token that is still valid. */
export async function removeSigningKey(db: Pool, actor: Actor, kid: string): Promise<void> {
  await inLock(db, async (tx, keys) => {
    const key = keys.find((each) => each.kid === kid);
    if (!key) throw refusal(`there is no key ${kid}`);
    if (key.state === 'active') throw refusal(`${kid} is active: rotate and activate first`);
    if (key.state === 'retiring' && !key.due) {
      throw refusal(`tokens that ${kid} signed may be valid until ${key.removeAt?.toISOString()}`);
    }
    if (key.state !== 'removed') await remove(tx, actor, key);
  });
}

/**
 * Verify no statement by a removed key any more. Its private part is erased here, but may have leaked before, or with a
 * backup.
 */
export async function distrustSigningKey(db: Pool, actor: Actor, kid: string): Promise<void> {
  await inLock(db, async (tx, keys) => {
    const key = keys.find((each) => each.kid === kid);
    if (!key) throw refusal(`there is no key ${kid}`);
    if (key.state !== 'removed') {
      throw refusal(`${kid} is ${key.state}: replace it with activate --compromised`);
    }
    await distrust(tx, actor, key);
  });
}

function inLock<T>(db: Pool, work: (tx: Tx, keys: SigningKeyRow[]) => Promise<T>): Promise<T> {
  return inTransaction(db, async (tx) => {
    await lockSigningKeys(tx);
    return work(tx, await findSigningKeys(tx));
  });
}

/**
 * Fails with `StartError` if SECRETS_KEY cannot decrypt a stored key: every process must be able to, or it could not sign
 * when that key is active.
 */
export async function checkSealedKeys(db: Db, box: SecretBox): Promise<void> {
  for (const { kid, privateKey } of await listSealedKeys(db)) {
    try {
      box.open(privateKey, kid);
    } catch (error) {
      throw new StartError(`SECRETS_KEY is not the one that the signing key ${kid} was encrypted with`, {
        cause: error,
      });
    }
  }
}

async function publish(tx: Tx, actor: Actor, box: SecretBox): Promise<string> {
  const { kid, publicKey, privateKey } = await newSigningKey();
  await insertPendingKey(tx, { kid, publicKey, sealedPrivateKey: box.seal(privateKey, kid) });
  await note(tx, actor, 'published', kid, null, { state: 'pending' });
  return kid;
}

/** The key that was active retires. */
async function activate(tx: Tx, actor: Actor, keys: readonly SigningKeyRow[], kid: string): Promise<void> {
  for (const key of keys) if (key.state === 'active') await markRetiring(tx, key.kid);
  await markActive(tx, kid);
  await note(tx, actor, 'activated', kid, { state: 'pending' }, { state: 'active' });
}

async function remove(tx: Tx, actor: Actor, { kid, state }: SigningKeyRow): Promise<void> {
  await markRemoved(tx, kid);
  await note(tx, actor, 'removed', kid, { state }, { state: 'removed' });
}

async function distrust(tx: Tx, actor: Actor, { kid, state }: SigningKeyRow): Promise<void> {
  await markCompromised(tx, kid);
  await note(
    tx,
    actor,
    'distrusted',
    kid,
    { state, compromised: false },
    { state: 'removed', compromised: true },
  );
}

async function note(
  tx: Tx,
  actor: Actor,
  change: 'published' | 'activated' | 'removed' | 'distrusted',
  kid: string,
  before: AuditedFields | null,
  after: AuditedFields,
): Promise<void> {
  await appendAudit(tx, null, actor, { action: `signing_key_${change}`, subject: kid, before, after });
}

function refusal(message: string): Failure {
  return new Failure('invalid_request', { message });
}
