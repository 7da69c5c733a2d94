/** The mails that the merchant's service wrote. The sandbox only shows them. */

export interface MailSummary {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly state: string;
  /** Unix time in seconds. */
  readonly created: number;
  /** Why it could not be sent so far. */
  readonly error: string | null;
}

export interface ShownMail extends MailSummary {
  readonly text: string;
  readonly html: string;
}

export interface Mailbox {
  /** Newest first. */
  list(): Promise<readonly MailSummary[]>;
  find(id: string): Promise<ShownMail | undefined>;
}
