/** The client for back ends: one object for everything that an API key may do. */
import { Alerts } from './alerts.ts';
import { Audit } from './audit.ts';
import { Billing } from './billing.ts';
import { Budgets } from './budgets.ts';
import { DEFAULT_LIMITS, type Limits } from './calls.ts';
import { checkUrl } from './check-url.ts';
import { Control } from './control.ts';
import { DeviceCredentials } from './device-credentials.ts';
import { BoxofficeError, ClientClosed } from './errors.ts';
import { Keys } from './keys.ts';
import { Mail } from './mail.ts';
import { Moderation } from './moderation.ts';
import { Participants } from './participants.ts';
import { Rates } from './rates.ts';
import { Rest } from './rest.ts';
import { Rooms } from './rooms.ts';
import { Tokens } from './tokens.ts';
import { Usage } from './usage.ts';
import { Watchdogs } from './watchdogs.ts';
import { Webhooks } from './webhooks.ts';

/** Addresses of the service, the API key, and time limits of calls. */
export interface BoxofficeOptions {
  /** Base URL of the REST interface: `https://boxoffice.example`. */
  readonly url: string;
  /** Address of the control plane: `https://control.example:443`, or `http://` without TLS. */
  readonly controlUrl: string;
  /** A backend key, or a relay key for `usage.report` and `usage.lookUp` alone. */
  readonly apiKey: string;
  /** Id of the key's tenant. Default: looked up once, which fails for a suspended tenant. */
  readonly tenant?: string | undefined;
  /** Time limit of a call with all its attempts. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of each attempt. Default 10 s. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Attempts after the first, if a call may be repeated. Default 4. */
  readonly retries?: number | undefined;
  /** Replaces the platform's `fetch`, for REST. */
  readonly fetch?: typeof fetch | undefined;
  /** CA certificates for the control plane in PEM, in place of the system's. */
  readonly tls?:
    | {
        /** One certificate or several. */
        readonly ca: string | Buffer;
      }
    | undefined;
}

/**
 * The client of one API key. Calls fail with `BoxofficeError`, with `TypeError` for arguments that the
 * contract does not have, or with the reason of an aborted signal.
 */
export class Boxoffice {
  /** Rooms and their events. */
  readonly rooms: Rooms;
  /** Participants of rooms. */
  readonly participants: Participants;
  /** Kicks, bans, mutes. */
  readonly moderation: Moderation;
  /** Tokens for participants. */
  readonly tokens: Tokens;
  /** Credentials for devices without a back end. */
  readonly deviceCredentials: DeviceCredentials;
  /** Timers on conditions of rooms. */
  readonly watchdogs: Watchdogs;
  /** API keys. */
  readonly keys: Keys;
  /** Balance, ledger, payments. */
  readonly billing: Billing;
  /** Reports of usage, and what was charged. */
  readonly usage: Usage;
  /** Prices. */
  readonly rates: Rates;
  /** Thresholds below which you are alerted. */
  readonly alerts: Alerts;
  /** What may be spent at most. */
  readonly budgets: Budgets;
  /** Endpoints that get events, and the events. */
  readonly webhooks: Webhooks;
  /** Who gets mail. */
  readonly mail: Mail;
  /** Who changed what. */
  readonly audit: Audit;
  readonly #control: Control;
  readonly #closing = new AbortController();
  #tenant: Promise<string> | undefined;

  /** Connects on the first call. Throws `TypeError` for invalid options. */
  constructor(options: BoxofficeOptions) {
    checkOptions(options);
    const { url, controlUrl, apiKey, tenant } = options;
    const {
      timeoutMs = DEFAULT_LIMITS.timeoutMs,
      attemptTimeoutMs = DEFAULT_LIMITS.attemptTimeoutMs,
      retries = DEFAULT_LIMITS.retries,
    } = options;
    const limits: Limits = { timeoutMs, attemptTimeoutMs, retries, closed: this.#closing.signal };
    const rest = new Rest({ url, apiKey, limits, fetch: options.fetch ?? fetch });
    this.#tenant = tenant === undefined ? undefined : Promise.resolve(tenant);
    this.#control = new Control({
      url: controlUrl,
      apiKey,
      ca: options.tls?.ca,
      limits,
      tenant: () => this.#findTenant(),
    });
    this.rooms = new Rooms(this.#control);
    this.participants = new Participants(this.#control, rest);
    this.moderation = new Moderation(this.#control);
    this.tokens = new Tokens(this.#control);
    this.deviceCredentials = new DeviceCredentials(this.#control);
    this.watchdogs = new Watchdogs(this.#control);
    this.keys = new Keys(rest);
    this.billing = new Billing(rest);
    this.usage = new Usage(rest);
    this.rates = new Rates(rest);
    this.alerts = new Alerts(rest);
    this.budgets = new Budgets(rest);
    this.webhooks = new Webhooks(rest);
    this.mail = new Mail(rest);
    this.audit = new Audit(rest);
  }

  /**
   * End the client: what follows events ends with `ClientClosed`, and later calls fail with it. Requests in progress still
   * finish.
   */
  close(): void {
    this.#closing.abort(new ClientClosed());
    this.#control.close();
  }

  /** Looked up once, and again after a failure. */
  #findTenant(): Promise<string> {
    if (!this.#tenant) {
      this.#tenant = this.billing.get().then(({ tenant }) => tenant.id);
      this.#tenant.catch(() => {
        this.#tenant = undefined;
      });
    }
    return this.#tenant.catch((error) => {
      // REST refuses relay keys like unknown ones. The control plane distinguishes them, and checks
      // the key before the tenant.
      if (error instanceof BoxofficeError && error.kind === 'Unauthenticated') return '';
      throw error;
    });
  }
}

function checkOptions({ url, controlUrl, apiKey, tenant = '', retries = 0 }: BoxofficeOptions): void {
  for (const [name, value] of Object.entries({ url, controlUrl })) checkUrl(name, value);
  // Other keys would be refused further down with a message that contains the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be printable ASCII characters');
  if (typeof tenant !== 'string') throw new TypeError('tenant must be a string');
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number');
}
