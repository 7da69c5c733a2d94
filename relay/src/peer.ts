/** A connection to a browser: the answer to its offer, its candidates, and the certificate that it really has. */
import ndc, { type PeerConnection } from 'node-datachannel';

export interface PeerOptions {
  readonly bindAddress: string | undefined;
  readonly udpPorts: readonly [from: number, to: number] | undefined;
}

export interface PeerEvents {
  /** The certificate is that of the proof: media may flow. */
  connected(): void;
  /** Another certificate than that of the proof. */
  impostor(): void;
  /** The connection is lost. */
  lost(): void;
}

const GATHERING_MS_MAX = 2_000;
/** From the answer to the end of the hand-shake. */
const CONNECTING_MS_MAX = 15_000;

export class Peer {
  readonly connection: PeerConnection;
  readonly #fingerprint: string;
  readonly #events: PeerEvents;
  #isTrusted = false;
  #connecting: NodeJS.Timeout | undefined;

  constructor(name: string, fingerprint: string, { bindAddress, udpPorts }: PeerOptions, events: PeerEvents) {
    this.#fingerprint = fingerprint;
    this.#events = events;
    this.connection = new ndc.PeerConnection(name, {
      iceServers: [],
      ...(bindAddress !== undefined && { bindAddress }),
      ...(udpPorts && { portRangeBegin: udpPorts[0], portRangeEnd: udpPorts[1] }),
    });
    this.connection.onStateChange((state) => this.#changed(state));
  }

  /** Whether media may flow: the hand-shake ended with the certificate of the proof. */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** The answer to an offer, with this relay's candidates. Tracks to send are added before. */
  async answer(sdp: string): Promise<string> {
    const gathered = Promise.withResolvers<void>();
    this.connection.onGatheringStateChange((state) => {
      if (state === 'complete') gathered.resolve();
    });
    const timer = setTimeout(gathered.resolve, GATHERING_MS_MAX);
    this.connection.setRemoteDescription(sdp, 'offer');
    await gathered.promise;
    clearTimeout(timer);
    this.#connecting = setTimeout(() => this.#events.lost(), CONNECTING_MS_MAX);
    return this.connection.localDescription()!.sdp;
  }

  close(): void {
    this.#isTrusted = false;
    clearTimeout(this.#connecting);
    this.connection.close();
  }

  #changed(state: string): void {
    if (state === 'connected') {
      clearTimeout(this.#connecting);
      const { value, algorithm } = this.connection.remoteFingerprint();
      this.#isTrusted = algorithm === 'sha-256' && value.toLowerCase() === this.#fingerprint;
      if (this.#isTrusted) this.#events.connected();
      else this.#events.impostor();
    }
    if (state === 'disconnected' || state === 'failed' || state === 'closed') this.#events.lost();
  }
}
