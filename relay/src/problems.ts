/** What the operator of a relay has to know about its service. Attempts repeat: a problem is told once, until it is over. */
import type { RevocationsError, UsageEvent } from '../../sdk/typescript/src/relay/index.ts';

const KEY_REFUSED = 'the service refuses RELAY_KEY: it must be a relay key that works. Records stay on disk';

type Subject = 'key' | 'usage' | 'revocations';

export class Problems {
  readonly #tell: (line: string) => void;
  readonly #open = new Map<Subject, string>();

  /** `tell` gets each line. */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Why the service refuses the key, until it takes usage with it. */
  get ofKey(): string | undefined {
    return this.#open.get('key');
  }

  /** Listens to the reporter of usage. */
  readonly usage = (event: UsageEvent): void => {
    if (event.type === 'batch_accepted') for (const subject of ['key', 'usage'] as const) this.#over(subject);
    const line = lineOf(event);
    const isOfKey = event.type === 'key_refused' || event.type === 'key_unreadable';
    if (line !== undefined) this.#found(isOfKey ? 'key' : 'usage', line);
  };

  /** Listens to the feed of revocations. */
  readonly revocations = ({ code, status }: RevocationsError): void => {
    // The stream alone asks for a key: polls go on without it.
    const isOfKey = status === 401 || status === 403;
    const answer = status === undefined ? code : `${code}, status ${status}`;
    const hint = status === 404 ? ': TENANT is not one of its tenants' : '';
    if (isOfKey) this.#found('key', KEY_REFUSED);
    else this.#found('revocations', `no revocations from the service (${answer})${hint}`);
  };

  /** There is a snapshot of revocations. */
  revocationsCame(): void {
    this.#over('revocations');
  }

  #found(subject: Subject, line: string): void {
    if (this.#open.get(subject) === line) return;
    this.#open.set(subject, line);
    this.#tell(line);
  }

  #over(subject: Subject): void {
    if (this.#open.delete(subject)) this.#tell(`${subject}: the service answers again`);
  }
}

function lineOf(event: UsageEvent): string | undefined {
  switch (event.type) {
    case 'key_refused':
      return KEY_REFUSED;
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
