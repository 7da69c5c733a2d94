/** What the console of operators needs: the service's own, or what the first process of several opens for it. */
import type { IssuerDeps } from '../../../access/oidc/begin-login.ts';
import type { RequestLimit } from '../../../access/sessions/request-limit.ts';
import type { SecretBox } from '../../../base/lib/secret-box.ts';
import type { Provider } from '../../../money/payments/provider.ts';
import type { Rounding } from '../../../money/pricing/carry.ts';
import type { Metrics } from '../../metrics.ts';

export interface OperatorDeps extends IssuerDeps {
  readonly metrics: Metrics;
  readonly box: SecretBox;
  /** `undefined`: payments are not configured. */
  readonly provider: Provider | undefined;
  readonly config: {
    /** Where operators open this console, without a trailing slash. */
    readonly opsUrl: string;
    readonly publicUrl: string;
    readonly billingRounding: Rounding;
    /** How long events are kept, and attempts to deliver them. */
    readonly eventDays: number;
  };
}

/** What the door opened, and what is over when it closes. */
export interface OperatorDoor {
  readonly deps: OperatorDeps;
  readonly requests: RequestLimit;
  /** Why requests should not be sent to the service; `undefined`: it is ready. */
  findFault(): Promise<string | undefined>;
  /** Metrics of the processes behind this port, in the text format of Prometheus. */
  readMetrics(): Promise<string>;
  /** Aborted when the door closes. */
  readonly stopping: AbortSignal;
  /** Work in the background, which the door waits for when it closes. */
  keep(work: Promise<void>): void;
}
