/** Dependencies of mail. */
import type { BaseDeps } from '../../base/deps.ts';
import type { SecretBox } from '../../base/lib/secret-box.ts';
import type { MailsShown } from './mail.ts';
import type { MailMetrics } from './mail-metrics.ts';
import type { Mailer } from './mailer.ts';

export interface MailDeps extends BaseDeps {
  readonly metrics: BaseDeps['metrics'] & MailMetrics;
  /** `undefined`: no mail server is configured. */
  readonly mailer: Mailer | undefined;
  readonly box: SecretBox;
  readonly config: {
    readonly publicUrl: string;
    readonly mailsShown: MailsShown;
    /** Where people of a tenant write to; `undefined`: no address is named. */
    readonly supportEmail: string | undefined;
  };
}
