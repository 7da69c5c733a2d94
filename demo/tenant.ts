/** The tenant of the demo, as its back end runs it: keys, a room, moderation, and the view of its ledger. */
import { randomBytes } from 'node:crypto';
import { Boxoffice, signUp } from '../sdk/typescript/src/backend/index.ts';
import { Charges } from './charges.ts';
import { Room } from './room.ts';
import type { Entry, Happening, HostState } from './state.ts';

const ENTRIES_SHOWN = 5;
const HAPPENINGS_SHOWN = 50;
const REFRESH_MS = 500;

/** Where the service is. */
export interface Addresses {
  readonly url: string;
  readonly controlUrl: string;
}

export class Tenant {
  readonly id: string;
  /** Only the browser that signed up has it. */
  readonly secret = randomBytes(18).toString('base64url');
  readonly #boxoffice: Boxoffice;
  readonly #payAt: string;
  readonly #charges: Charges;
  readonly #happenings: Happening[] = [];
  #room: Room | undefined;
  #rooms = 0;
  #happened = 0;
  #balance = '$0.000000';
  #hasPaid = false;
  #entries: readonly Entry[] = [];
  #refreshed = { at: 0, done: Promise.resolve() };

  private constructor(boxoffice: Boxoffice, id: string, payAt: string) {
    this.id = id;
    this.#boxoffice = boxoffice;
    this.#payAt = payAt;
    this.#charges = new Charges(boxoffice);
  }

  static async signUp({ url, controlUrl }: Addresses): Promise<Tenant> {
    const signedUp = await signUp({ name: 'Video demo', email: 'demo@example.com' }, { url });
    const { tenant: id, apiKey, checkoutUrl } = signedUp;
    const tenant = new Tenant(new Boxoffice({ url, controlUrl, apiKey, tenant: id }), id, checkoutUrl);
    tenant.#tell(`Tenant ${id} has signed up`);
    return tenant;
  }

  /** The key with which the relay reports. */
  async createRelayKey(): Promise<string> {
    const { apiKey } = await this.#boxoffice.keys.create({ name: 'relay of the demo', kind: 'relay' });
    return apiKey;
  }

  /** The newest one, open or not. */
  get room(): Room | undefined {
    return this.#room;
  }

  async openRoom(): Promise<Room> {
    if (this.#room?.isOpen) return this.#room;
    this.#rooms += 1;
    this.#room = await Room.open(this.#boxoffice, `stage-${this.#rooms}`, this.#charges, (text) =>
      this.#tell(text),
    );
    return this.#room;
  }

  async state(): Promise<HostState> {
    await this.#refresh();
    return {
      tenant: this.id,
      payAt: this.#payAt,
      balance: this.#balance,
      hasPaid: this.#hasPaid,
      spent: this.#charges.spent,
      entries: this.#entries,
      link: this.#room?.isOpen ? `/with/${this.#room.link}` : undefined,
      happenings: this.#happenings,
    };
  }

  close(): void {
    this.#room?.close();
    this.#boxoffice.close();
  }

  /** Several pages that ask at the same time cost one question. */
  #refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#refreshed.at >= REFRESH_MS || this.#refreshed.at === 0) {
      this.#refreshed = { at: now, done: this.#read() };
    }
    return this.#refreshed.done;
  }

  async #read(): Promise<void> {
    const [{ balance, tenant, recent }] = await Promise.all([
      this.#boxoffice.billing.get(),
      this.#charges.read(),
    ]);
    this.#balance = balance.display;
    const hasPaid = tenant.status === 'active';
    if (hasPaid && !this.#hasPaid) this.#tell(`Paid: the balance is ${balance.display}`);
    this.#hasPaid = hasPaid;
    // The relay reports each second, and most of it costs less than a micro-dollar: the payment would be out of sight at once.
    this.#entries = recent
      .filter(({ amount }) => amount.micros !== 0n)
      .slice(0, ENTRIES_SHOWN)
      .map(({ kind, amount, detail = '' }) => ({ kind, amount: amount.display, detail }));
  }

  #tell(text: string): void {
    this.#happened += 1;
    this.#happenings.unshift({ number: this.#happened, text });
    this.#happenings.length = Math.min(this.#happenings.length, HAPPENINGS_SHOWN);
  }
}
