/** What the operator of a relay has to know about its service. Attempts repeat: a problem is told once, until it is over. */
import type { RevocationsError, UsageEvent } from '../../sdk/typescript/src/relay/index.ts';

export class Problems {
  readonly #tell: (line: string) => void;
  readonly #open = new Map<'usage' | 'revocations', string>();

  /** `tell` gets each line. */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Listens to the reporter of usage. */
  readonly usage = (event: UsageEvent): void => {
    if (event.type === 'batch_accepted') this.#over('usage');
    const line = lineOf(event);
    if (line !== undefined) this.#found('usage', line);
  };

  /** Listens to the feed of revocations. */
  readonly revocations = ({ code, status }: RevocationsError): void => {
    const answer = status === undefined ? code : `${code}, status ${status}`;
    const hint = status === 404 ? ': TENANT is not one of its tenants' : '';
    this.#found('revocations', `no revocations from the service (${answer})${hint}`);
  };

  /** There is a snapshot of revocations. */
  revocationsCame(): void {
    this.#over('revocations');
  }

  #found(subject: 'usage' | 'revocations', line: string): void {
    if (this.#open.get(subject) === line) return;
    this.#open.set(subject, line);
    this.#tell(line);
  }

  #over(subject: 'usage' | 'revocations'): void {
    if (this.#open.delete(subject)) this.#tell(`${subject}: the service answers again`);
  }
}

function lineOf(event: UsageEvent): string | undefined {
  switch (event.type) {
    case 'key_refused':
      return 'the service refuses RELAY_KEY: it must be a relay key that works. Records stay on disk';
    case 'key_unreadable':
      return `RELAY_KEY_FILE cannot be read: ${(event.cause as Error).message}. Records stay on disk`;
    case 'send_failed':
      return `usage is not sent (${event.status ?? event.reason}). Records stay on disk`;
    case 'record_quarantined':
    case 'segment_corrupt':
    case 'segment_failed':
      return `usage: ${event.type}, see ${event.file}`;
    case 'interval_not_stored':
    case 'checkpoint_failed':
      return `usage is not on disk: ${(event.cause as Error).message}`;
    default:
      return undefined;
  }
}
