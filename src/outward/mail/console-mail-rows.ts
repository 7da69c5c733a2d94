/**
 * The mails of the console as rows, which the worker of all mails sends.
 *
 * A link to log in is a secret, so only its sealed form is stored, and only until the mail was sent or the link has
 * expired.
 */
import type { ConsoleMail, ConsoleMails } from '../../access/logins/console-mails.ts';
import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import { insertConsoleMail, type StoredMail } from './mails.sql.ts';

export class ConsoleMailRows implements ConsoleMails {
  readonly #box: SecretBox;
  #wake = () => {};

  constructor(box: SecretBox) {
    this.#box = box;
  }

  /** What runs when a mail may be waiting. */
  onWritten(wake: () => void): void {
    this.#wake = wake;
  }

  async write(tx: Tx, mail: ConsoleMail, { isWanted } = { isWanted: true }): Promise<void> {
    const id = newId('mail');
    const { type, to: address } = mail;
    const row =
      mail.type === 'login_link'
        ? {
            tenant: undefined,
            subject: {},
            sealed: this.#box.seal(Buffer.from(mail.secret), linkContext(id)),
          }
        : {
            tenant: mail.tenant,
            subject: { role: mail.role, ...(mail.by !== undefined && { by: mail.by }) },
            sealed: undefined,
          };
    await insertConsoleMail(tx, { id, type, address, ...row }, isWanted);
  }

  wake(): void {
    this.#wake();
  }
}

/** The secret of a mail's link. `undefined`: it was erased, or the mail has no link. */
export function openLink(box: SecretBox, { id, sealed }: Pick<StoredMail, 'id' | 'sealed'>) {
  return sealed === null ? undefined : box.open(sealed, linkContext(id)).toString();
}

/** What the secret of a mail's link is sealed for. */
export function linkContext(id: string): string {
  return `link of ${id}`;
}
