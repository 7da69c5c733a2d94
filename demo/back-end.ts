/** The back end of the demo: one tenant, whose host is the browser that signed it up. */
import type { Opened } from '../src/run/lifetime.ts';
import { spawnRelay } from './relay-process.ts';
import { type Question, Refused, type Site } from './server.ts';
import type { Counts, State } from './state.ts';
import { type Addresses, Tenant } from './tenant.ts';

export class BackEnd implements Site {
  /** The address of the site, which is known once it listens. */
  url = '';
  #tenant: Tenant | undefined;
  readonly #opened: Opened;
  readonly #service: Addresses;
  #relay: Promise<void> | undefined;
  #relayAddress: string | undefined;
  #signingUp: Promise<Tenant> | undefined;

  readonly answers: Site['answers'] = {
    state: async (question) => await this.state(question),
    'sign-up': async () => {
      if (this.#signingUp) throw new Refused(409, 'another browser has signed up already');
      this.#signingUp = Tenant.signUp(this.#service);
      try {
        this.#tenant = await this.#signingUp;
      } finally {
        this.#signingUp = this.#tenant && this.#signingUp;
      }
      return {};
    },
    room: async (question) => {
      const tenant = this.#hosted(question);
      this.#relay ??= this.#startRelay(tenant).catch((error: unknown) => {
        this.#relay = undefined;
        throw error;
      });
      await this.#relay;
      await tenant.openRoom();
      return {};
    },
    end: async (question) => {
      await this.#roomOf(this.#hosted(question)).end();
      return {};
    },
    mute: async (question) => {
      const { username, kind, isMuted } = question.body;
      const room = this.#roomOf(this.#hosted(question));
      await room.mute(String(username), kind === 'audio' ? 'audio' : 'video', isMuted === true);
      return {};
    },
    kick: async (question) => {
      await this.#roomOf(this.#hosted(question)).kick(String(question.body.username));
      return {};
    },
    counts: async (question) => {
      const { username, ...counts } = question.body;
      this.#joined(question)?.count(String(username), countsIn(counts));
      return {};
    },
    heard: async (question) => {
      const { username, code } = question.body;
      this.#joined(question)?.heard(String(username), String(code).slice(0, 40));
      return {};
    },
  };

  constructor(opened: Opened, service: Addresses) {
    this.#opened = opened;
    this.#service = service;
    opened.add(async () => this.#tenant?.close());
  }

  destination(path: string): string | undefined {
    if (path === '/join' || path === '/.well-known/jwks.json') return this.#service.url;
    return /^\/(rooms|sessions)\//.test(path) ? this.#relayAddress : undefined;
  }

  isLink(link: string): boolean {
    const room = this.#tenant?.room;
    return room?.isOpen === true && room.link === link;
  }

  secret(): string | undefined {
    return this.#tenant?.secret;
  }

  /** After the payment, so that the first answer that the relay gets admits participants. */
  async #startRelay(tenant: Tenant): Promise<void> {
    const key = await tenant.createRelayKey();
    const relay = await spawnRelay({ url: this.url, service: this.#service.url, tenant: tenant.id, key });
    this.#opened.add(() => relay.stop());
    await relay.ready();
    this.#relayAddress = relay.address;
  }

  async state(question: Pick<Question, 'secret' | 'link'>): Promise<State> {
    const tenant = this.#tenant;
    const isHost = tenant !== undefined && question.secret === tenant.secret && question.link === undefined;
    const room = isHost ? tenant.room : this.#joined(question);
    const isOpen = room?.isOpen === true;
    return {
      isTaken: tenant !== undefined && !isHost,
      host: isHost ? await tenant.state() : undefined,
      invitation: isOpen ? room.invitation : undefined,
      people: isOpen ? room.people : [],
    };
  }

  /** The tenant, if its host asks. */
  #hosted({ secret }: Question): Tenant {
    if (!this.#tenant || secret !== this.#tenant.secret) throw new Refused(403, 'only the host may do this');
    return this.#tenant;
  }

  /** The room of the page that asks: by its link, or as the host. */
  #joined({ secret, link }: Pick<Question, 'secret' | 'link'>) {
    const tenant = this.#tenant;
    const room = tenant?.room;
    return room && (link === undefined ? secret === tenant.secret : link === room.link) ? room : undefined;
  }

  #roomOf({ room }: Tenant) {
    if (!room?.isOpen) throw new Refused(409, 'there is no open room');
    return room;
  }
}

function countsIn(body: Readonly<Record<string, unknown>>): Counts {
  const number = (name: keyof Counts) => {
    const value = body[name];
    if (typeof value === 'number' && value >= 0 && value < Number.MAX_SAFE_INTEGER) return value;
    throw new Refused(400, `${name} must be a number`);
  };
  return {
    received: number('received'),
    sent: number('sent'),
    frames: number('frames'),
    width: number('width'),
    height: number('height'),
    connectedMs: number('connectedMs'),
  };
}
