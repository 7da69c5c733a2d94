/** Limits the connections of this process, over all its ports: in all, and of one client address. */
import type { Socket } from 'node:net';
import { type AddressRange, isWithin, networkOf } from '../lib/address.ts';

export interface ConnectionLimits {
  readonly max: number;
  readonly perAddressMax: number;
  /** Proxies, which bring connections of many clients: only `max` applies to them. */
  readonly trusted: readonly AddressRange[];
}

export class ConnectionLimit {
  readonly #limits: ConnectionLimits;
  readonly #perNetwork = new Map<string, number>();
  #total = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Whether there are as many as may be, of all clients. */
  get isFull(): boolean {
    return this.#total >= this.#limits.max;
  }

  /**
   * Count the connection until it closes, or end it if there are too many. Returns whether it may be used.
   */
  admit(socket: Pick<Socket, 'remoteAddress' | 'destroy' | 'once'>): boolean {
    const { perAddressMax, trusted } = this.#limits;
    const address = socket.remoteAddress;
    // The client has already hung up.
    if (address === undefined) return this.#refuse(socket);
    const network = isWithin(trusted, address) ? undefined : networkOf(address);
    const count = network === undefined ? 0 : (this.#perNetwork.get(network) ?? 0);
    if (this.isFull || count >= perAddressMax) return this.#refuse(socket);
    this.#total += 1;
    if (network !== undefined) this.#perNetwork.set(network, count + 1);
    socket.once('close', () => this.#leave(network));
    return true;
  }

  #refuse(socket: Pick<Socket, 'destroy'>): false {
    socket.destroy();
    return false;
  }

  #leave(network: string | undefined): void {
    this.#total -= 1;
    if (network === undefined) return;
    const count = this.#perNetwork.get(network)! - 1;
    if (count > 0) this.#perNetwork.set(network, count);
    else this.#perNetwork.delete(network);
  }
}
