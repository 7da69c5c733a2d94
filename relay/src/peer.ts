/**
 * A connection to a browser: the answer to its offer, its candidates, the certificate that it really has, and its packets. The
 * library has one track, whatever the browser sends or gets: it encrypts and decrypts packets, and does not look into them.
 */
import ndc, { type PeerConnection, type Track } from 'node-datachannel';
import { TRANSPORT_MID } from './offer.ts';

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
  /** A packet of RTP or RTCP, of a certificate that is trusted. */
  heard(packet: Buffer): void;
}

const GATHERING_MS_MAX = 2_000;
/** From the answer to the end of the hand-shake. */
const CONNECTING_MS_MAX = 15_000;

export class Peer {
  readonly #connection: PeerConnection;
  readonly #track: Track;
  readonly #fingerprint: string;
  readonly #events: PeerEvents;
  readonly #gathered = Promise.withResolvers<void>();
  #isTrusted = false;
  #isClosed = false;
  #connecting: NodeJS.Timeout | undefined;

  constructor(name: string, fingerprint: string, { bindAddress, udpPorts }: PeerOptions, events: PeerEvents) {
    this.#fingerprint = fingerprint;
    this.#events = events;
    this.#connection = new ndc.PeerConnection(name, {
      iceServers: [],
      ...(bindAddress !== undefined && { bindAddress }),
      ...(udpPorts && { portRangeBegin: udpPorts[0], portRangeEnd: udpPorts[1] }),
    });
    this.#connection.onStateChange((state) => this.#changed(state));
    const media = new ndc.Video(TRANSPORT_MID, 'SendRecv');
    media.addVP8Codec(96);
    this.#track = this.#connection.addTrack(media);
    this.#track.onMessage((packet) => {
      if (this.#isTrusted) events.heard(packet);
    });
  }

  /** The certificate that it really has is that of the proof. */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** Returns whether a packet of RTP or RTCP was sent. None is before the hand-shake, or with another certificate. */
  send(packet: Buffer): boolean {
    if (!this.#isTrusted || !this.#track.isOpen()) return false;
    try {
      return this.#track.sendMessageBinary(packet);
    } catch {
      // The library throws for a packet that SRTP does not take, such as one that is far too late.
      return false;
    }
  }

  /** Fails if the library does not understand it. */
  addCandidate(candidate: string): void {
    this.#connection.addRemoteCandidate(candidate, TRANSPORT_MID);
  }

  /** The answer to an offer of one section, with this relay's candidates. */
  async answer(sdp: string): Promise<string> {
    this.#connection.onGatheringStateChange((state) => {
      if (state === 'complete') this.#gathered.resolve();
    });
    const timer = setTimeout(this.#gathered.resolve, GATHERING_MS_MAX);
    this.#connection.setRemoteDescription(sdp, 'offer');
    await this.#gathered.promise;
    clearTimeout(timer);
    const answer = this.#connection.localDescription();
    if (this.#isClosed || !answer) throw new Error('the connection is closed');
    this.#connecting = setTimeout(() => this.#events.lost(), CONNECTING_MS_MAX);
    return answer.sdp;
  }

  close(): void {
    this.#isClosed = true;
    this.#isTrusted = false;
    this.#gathered.resolve();
    clearTimeout(this.#connecting);
    this.#connection.close();
  }

  #changed(state: string): void {
    if (state === 'connected') {
      clearTimeout(this.#connecting);
      const { value, algorithm } = this.#connection.remoteFingerprint();
      this.#isTrusted = algorithm === 'sha-256' && value.toLowerCase() === this.#fingerprint;
      if (this.#isTrusted) this.#events.connected();
      else this.#events.impostor();
    }
    if (state === 'disconnected' || state === 'failed' || state === 'closed') this.#events.lost();
  }
}
