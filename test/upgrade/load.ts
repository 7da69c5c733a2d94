/**
 * A customer during an upgrade: relays that report, a back end that mints tokens and rotates keys, a device that joins. They use the SDK
 * of the old version and of the new one, and all services that are open, in turns. Nothing is tried twice: each refusal is a failure.
 */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Boxoffice } from '../../sdk/typescript/src/backend/index.ts';
import { post } from '../deploy/post.ts';
import type { Version } from './version.ts';

export type Sdk = typeof Boxoffice;
export type Report = Parameters<Boxoffice['usage']['report']>[0];

/** A service that is open, and how many calls are under way there. */
interface Place {
  readonly version: Version;
  calls: number;
}

/** A call that ended. */
export interface Call {
  readonly name: string;
  /** `performance.now()` when it began. */
  readonly at: number;
  readonly ms: number;
}

export interface Account {
  readonly tenant: string;
  readonly key: string;
  readonly relayKey: string;
}

const RELAYS = 2;
const BATCH = 50;
/** One credential may join 30 times a minute. */
const JOIN_PAUSE_MS = 2_100;
const PAUSE_MS = 40;
const ROTATION_PAUSE_MS = 300;
/** Every so many reports, a relay sends its last one again. */
const REPEAT_EVERY = 5;

/** The SDK of a tree. */
export async function loadSdk(root: string): Promise<Sdk> {
  const file = pathToFileURL(join(root, 'sdk/typescript/src/backend/index.ts')).href;
  return (await import(file)).Boxoffice;
}

export class Load {
  readonly calls: Call[] = [];
  readonly failures: string[] = [];
  /** What was acknowledged: each batch, and what all cost. */
  readonly batches: Report[] = [];
  micros = 0n;
  readonly #sdks: readonly Sdk[];
  readonly #account: Account;
  readonly #clients = new Map<string, Boxoffice>();
  #places: readonly Place[] = [];
  readonly #ending = new AbortController();
  #actors: readonly Promise<void>[] = [];

  constructor(sdks: readonly Sdk[], account: Account) {
    this.#sdks = sdks;
    this.#account = account;
  }

  /** From now on, calls go there too. */
  open(version: Version): void {
    this.#places = [...this.#places, { version, calls: 0 }];
  }

  /** As a load balancer does before a service stops: no new calls, and those under way end. */
  async drain(version: Version): Promise<void> {
    const place = this.#places.find((each) => each.version === version)!;
    this.#places = this.#places.filter((each) => each !== place);
    while (place.calls > 0) await sleep(5);
  }

  start(): void {
    const relays = Array.from({ length: RELAYS }, (_, index) => this.#act(this.#relay(`relay-${index}`)));
    this.#actors = [
      ...relays,
      this.#act((turn) => this.#mint(turn)),
      this.#act((turn) => this.#rotate(turn), ROTATION_PAUSE_MS),
      this.#act(this.#device(), JOIN_PAUSE_MS),
    ];
  }

  /** Calls that are under way end. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#actors);
    for (const client of this.#clients.values()) client.close();
  }

  async #act(step: (turn: number) => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
    for (let turn = 0; !this.#ending.signal.aborted; turn += 1) {
      await step(turn).catch((error: unknown) => this.failures.push((error as Error).message));
      await sleep(pauseMs, undefined, { signal: this.#ending.signal }).catch(() => {});
    }
  }

  /** In turns at each open service, with each SDK. */
  async #call<T>(
    name: string,
    turn: number,
    apiKey: string,
    ask: (client: Boxoffice, url: string) => Promise<T>,
  ): Promise<T> {
    const place = this.#places[turn % this.#places.length]!;
    const sdk = Math.floor(turn / 2) % this.#sdks.length;
    const at = performance.now();
    place.calls += 1;
    try {
      return await ask(this.#client(place.version, sdk, apiKey), place.version.url);
    } catch (error) {
      throw new Error(`${name} at ${place.version.name}: ${(error as Error).message}`, { cause: error });
    } finally {
      place.calls -= 1;
      this.calls.push({ name, at, ms: performance.now() - at });
    }
  }

  #client(version: Version, sdk: number, apiKey: string): Boxoffice {
    const id = `${version.name} ${sdk} ${apiKey}`;
    let client = this.#clients.get(id);
    if (client === undefined) {
      const { url, controlUrl } = version;
      client = new this.#sdks[sdk]!({ url, controlUrl, apiKey, tenant: this.#account.tenant, retries: 0 });
      this.#clients.set(id, client);
    }
    return client;
  }

  #relay(relay: string): (turn: number) => Promise<void> {
    let last: Report | undefined;
    return async (turn) => {
      if (last !== undefined && turn % REPEAT_EVERY === REPEAT_EVERY - 1) {
        const { duplicates } = await this.#report('repeat', turn, last);
        if (duplicates < last.length)
          this.failures.push('records that were charged before were charged again');
        return;
      }
      const batch = newBatch(relay, turn, BATCH);
      const { charged } = await this.#report('report', turn, batch);
      last = batch;
      this.batches.push(batch);
      if (charged < batch.length) this.failures.push('new records were not charged');
    };
  }

  async #report(name: string, turn: number, batch: Report) {
    const answer = await this.#call(name, turn, this.#account.relayKey, (client) =>
      client.usage.report(batch),
    );
    this.micros += BigInt(answer.total.micros);
    return answer;
  }

  /** For a newcomer first, who then renews it. */
  async #mint(turn: number): Promise<void> {
    const username = `user-${Math.floor(turn / 4)}`;
    const deviceThumbprint = createHash('sha256').update(username).digest('base64url');
    const name = turn % 4 === 0 ? 'mint' : 'renew';
    await this.#call(name, turn, this.#account.key, (client) =>
      client.tokens.mint({ room: 'stage', username, deviceThumbprint, role: 'audience' }),
    );
  }

  /** A key that one service has made is replaced at the other one, and revoked there again. */
  async #rotate(turn: number): Promise<void> {
    const { key } = this.#account;
    const made = await this.#call('create a key', turn, key, (client) =>
      client.keys.create({ name: 'of an upgrade', kind: 'relay' }),
    );
    const rotated = await this.#call('rotate a key', turn + 1, key, (client) =>
      client.keys.rotate({ id: made.key.id, overlapSeconds: 0 }),
    );
    await this.#call('use a key', turn, rotated.apiKey, (client) => client.usage.report([]));
    await this.#call('revoke a key', turn + 1, key, (client) => client.keys.revoke({ id: rotated.key.id }));
  }

  /** It joins, and joins again, which renews its token. */
  #device(): (turn: number) => Promise<void> {
    let credential: string | undefined;
    const { kty, crv, x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
      format: 'jwk',
    });
    return async (turn) => {
      const { key } = this.#account;
      credential ??= await this.#call('create a credential', turn, key, async (_, url) => {
        const body = { name: 'kiosk', publish: ['audio'], default_room: 'lobby' };
        const answer = await post(`${url}/v1/device-credentials`, key, body);
        return (answer as { readonly credential: string }).credential;
      });
      const body = { username: 'ann', key: { kty, crv, x, y } };
      await this.#call('join', turn, credential, (_, url) => post(`${url}/join`, credential!, body));
    };
  }
}

/** The records of one report of a relay. */
export function newBatch(relay: string, turn: number, size: number): Report {
  return Array.from({ length: size }, (_, index) => ({
    id: `${relay}.${turn}.${index}`,
    room: `room-${index % 40}`,
    participant: `user-${(turn * size + index) % 1_000}`,
    role: 'audience' as const,
    tier: 'hd' as const,
    seconds: 30,
    egressBytes: 1_000_000 + (((turn * size + index) * 7_919) % 20_000_000),
    ingressBytes: 10_000,
  }));
}
