/** A small mail server that takes what is sent to it, or fails as a test wants. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach } from 'vitest';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, as sent. */
  readonly source: string;
  /** Whether it came through TLS. */
  readonly secure: boolean;
  /** `user:password`, if it logged in. */
  readonly login: string | undefined;
}

/** What the server does to the next mails. */
export type Behavior =
  | 'take'
  /** 450: try again. */
  | 'busy'
  | 'refuse recipient'
  | 'refuse sender'
  | 'refuse content'
  /** Takes the mail, and closes without a word. */
  | 'close after data'
  /** Never answers to the mail. */
  | 'hang';

export interface SmtpServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  behavior: Behavior;
  offersTls: boolean;
}

const fileOf = (name: string) => readFileSync(new URL(`../../support/tls/${name}`, import.meta.url));
export const CERTIFICATE = fileOf('certificate.pem');

/** One for the calling test file. It takes everything at the start of each test. */
export function useSmtp(): SmtpServer {
  const sockets = new Set<Socket>();
  const state = { port: 0, received: [] as ReceivedMail[], behavior: 'take' as Behavior, offersTls: false };
  const server = createServer((socket) => {
    sockets.add(socket);
    new Session(state, socket).greet();
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    state.port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    state.received.length = 0;
    state.behavior = 'take';
    state.offersTls = false;
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return state;
}

class Session {
  readonly #server: SmtpServer;
  #socket: Socket;
  #text = '';
  #inData = false;
  #secure = false;
  #login: string | undefined;
  #from = '';
  #to: string[] = [];

  constructor(server: SmtpServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    this.#listen();
  }

  greet(): void {
    this.#say('220 ready');
  }

  #listen(): void {
    this.#socket.on('error', () => {});
    this.#socket.on('data', (bytes) => {
      this.#text += bytes.toString();
      this.#read();
    });
  }

  #say(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  #read(): void {
    for (;;) {
      const end = this.#text.indexOf(this.#inData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + (this.#inData ? 5 : 2));
      if (this.#inData) this.#take(part);
      else this.#obey(part);
    }
  }

  #obey(line: string): void {
    const { behavior, offersTls } = this.#server;
    const address = /<(.*)>/.exec(line)?.[1] ?? '';
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        this.#say('250-test');
        if (offersTls && !this.#secure) this.#say('250-STARTTLS');
        this.#say('250 AUTH PLAIN');
        return;
      case 'STAR':
        this.#startTls();
        return;
      case 'AUTH':
        this.#login = Buffer.from(line.split(' ')[2]!, 'base64').toString().split('\0').slice(1).join(':');
        this.#say('235 ok');
        return;
      case 'MAIL':
        this.#from = address;
        this.#say(behavior === 'refuse sender' ? `550 no <${address}>` : '250 ok');
        return;
      case 'RCPT':
        if (behavior === 'busy') {
          this.#say(`450 later, <${address}>`);
          return;
        }
        if (behavior === 'refuse recipient') {
          this.#say(`550 there is no <${address}>`);
          return;
        }
        this.#to.push(address);
        this.#say('250 ok');
        return;
      case 'DATA':
        this.#inData = true;
        this.#say('354 go on');
        return;
      default:
        this.#say('250 ok');
        return;
    }
  }

  #take(source: string): void {
    const { behavior, received } = this.#server;
    this.#inData = false;
    if (behavior === 'refuse content') {
      this.#say('554 no');
      return;
    }
    const [from, to] = [this.#from, this.#to];
    received.push({ from, to, source, secure: this.#secure, login: this.#login });
    this.#to = [];
    if (behavior === 'hang') return;
    if (behavior === 'close after data') this.#socket.destroy();
    else this.#say('250 taken');
  }

  #startTls(): void {
    this.#say('220 go on');
    const secureContext = createSecureContext({ cert: CERTIFICATE, key: fileOf('key.pem') });
    this.#socket.removeAllListeners('data');
    this.#socket = new TLSSocket(this.#socket, { isServer: true, secureContext });
    this.#secure = true;
    this.#listen();
  }
}
