/**
 * A media connection to a relay: WHIP (RFC 9725) to publish, WHEP to subscribe, with the token of the session and a proof
 * by the nonce hand-shake of DPoP (RFC 9449).
 */
import type { Device } from './device.ts';
import { Emitter } from './emitter.ts';
import { keepEncryptable, type MediaEncryption } from './encryption/media-encryption.ts';
import { ProvedRequests } from './proved-requests.ts';

/** What is sent to the room. */
export interface Published {
  /** Microphone and camera. */
  readonly publish?: MediaStream | undefined;
  /** A screen, whose picture is sent beside that of the camera. */
  readonly screen?: MediaStream | undefined;
}

/** What a connection carries: a publication, or what a participant publishes (`true`: the one who published first). */
export type Direction =
  | (Published & { readonly subscribe?: never })
  | { readonly subscribe: string | true; readonly publish?: never; readonly screen?: never };

/** One kind of media of a participant. */
export interface Arrived {
  readonly kind: 'audio' | 'video' | 'screen';
  readonly track: MediaStreamTrack;
}

export type ConnectOptions = Direction & {
  /** Base URL of the relay. */
  readonly url: string;
  /** The room of the token. */
  readonly room: string;
  /** The name of the participant in the token. */
  readonly username: string;
  /** Encrypts what is published, and decrypts what is subscribed to. */
  readonly encryption?: MediaEncryption | undefined;
  /** The newest token: it is asked for with each request. */
  readonly token: () => string;
  /** The device that the token is bound to. */
  readonly device: Device;
};

/** Events of a connection. `ended` comes once. */
export interface ConnectionEvents {
  /** Media of the publisher begins to arrive. */
  track: Arrived;
  /** What is muted: by moderators (`kinds`), and by the participant or on entry (`own`). */
  muted: Muted;
  /** The relay asks for a newer token, which may allow more. */
  renew: object;
  /** Who publishes in the room. */
  publishers: { readonly usernames: readonly string[] };
  /** Nothing arrives. It may come back by itself. */
  interrupted: object;
  /** The connection is back. */
  resumed: object;
  /** The relay ended it, and why; `NETWORK`: the connection is lost. */
  ended: { readonly code: string; readonly reason: string | undefined };
}

/** Any of `audio`, `video`, `screen`, `data`. */
export interface Muted {
  /** All that a moderator has muted, or that the token does not allow. */
  readonly kinds: readonly string[];
  /** All that the participant has muted, or the room on entry: `unmute()`. */
  readonly own: readonly string[];
}

/** What this version says of its encryption: the format of docs/encryption.md. */
const ENCRYPTION_FORMAT = '1';

export class Connection extends Emitter<ConnectionEvents> {
  readonly peer: RTCPeerConnection;
  /** What has arrived so far. */
  readonly tracks: Arrived[] = [];
  readonly #options: ConnectOptions;
  readonly #requests: ProvedRequests;
  #location = '';
  #publisher = '';
  #muted: Muted = { kinds: [], own: [] };
  #events: EventSource | undefined;
  #screen: RTCRtpTransceiver | undefined;
  #hasEnded = false;

  private constructor(options: ConnectOptions, certificate: RTCCertificate) {
    super();
    this.#options = options;
    const { device, token } = options;
    const dtlsFingerprint = certificate.getFingerprints()[0]!.value!;
    this.#requests = new ProvedRequests({ device, token, dtlsFingerprint });
    this.peer = new RTCPeerConnection({ certificates: [certificate] });
    this.peer.ontrack = ({ track, transceiver }) => {
      const kind = transceiver === this.#screen ? 'screen' : (track.kind as 'audio' | 'video');
      const arrived = () => {
        this.tracks.push({ kind, track });
        this.emit('track', { kind, track });
      };
      track.addEventListener('unmute', arrived, { once: true });
    };
    this.peer.onconnectionstatechange = () => this.#changed();
  }

  /** The name of the participant whose media this carries; empty for what is published. */
  get publisher(): string {
    return this.#publisher;
  }

  get muted(): Muted {
    return this.#muted;
  }

  /** Resolves when the relay has answered. Throws `ConnectError`. */
  static async open(options: ConnectOptions, certificate: RTCCertificate): Promise<Connection> {
    const connection = new Connection(options, certificate);
    try {
      await connection.#open();
    } catch (error) {
      connection.peer.close();
      throw error;
    }
    return connection;
  }

  /** Show the relay the newest token: the session then lasts as long as that. */
  async renew(): Promise<void> {
    await this.#requests.send('PATCH', this.#location);
  }

  /** What the participant mutes from now on: any of `audio`, `video`, `screen`. */
  async mute(muted: readonly string[]): Promise<void> {
    await fetch(this.#location, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ muted }),
    });
  }

  /** Leave. There is no event. */
  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#stop();
    await fetch(this.#location, { method: 'DELETE' }).catch(() => undefined);
  }

  async #open(): Promise<void> {
    const { subscribe, url, room, encryption } = this.#options;
    this.#addMedia();
    await this.peer.setLocalDescription();
    await this.#gathered();
    const base = `${url.replace(/\/+$/, '')}/rooms/${encodeURIComponent(room)}`;
    const of = typeof subscribe === 'string' ? `?of=${encodeURIComponent(subscribe)}` : '';
    const encrypted = encryption ? `?encryption=${ENCRYPTION_FORMAT}` : '';
    const target = subscribe === undefined ? `${base}/whip${encrypted}` : `${base}/whep${of}`;
    const answer = await this.#requests.send('POST', target, this.#offer());
    this.#location = new URL(answer.headers.get('location')!, url).href;
    this.#publisher = decodeURIComponent(answer.headers.get('publisher') ?? '');
    encryption?.tellOrigin(this, { room, username: this.#publisher });
    await this.peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  }

  #addMedia(): void {
    const { publish, screen, subscribe, encryption } = this.#options;
    const send = (track: MediaStreamTrack, stream: MediaStream) =>
      this.peer.addTransceiver(track, { direction: 'sendonly', streams: [stream] });
    for (const track of publish?.getTracks() ?? []) send(track, publish!);
    const [picture] = screen?.getVideoTracks() ?? [];
    if (picture) this.#screen = send(picture, screen!);
    if (subscribe !== undefined) this.#addReceivers();
    if (encryption) this.#encrypt(encryption);
  }

  #addReceivers(): void {
    for (const kind of ['audio', 'video']) this.peer.addTransceiver(kind, { direction: 'recvonly' });
    this.#screen = this.peer.addTransceiver('video', { direction: 'recvonly' });
  }

  /** Before the offer: Chromium lets media pass by a transform that is set later. */
  #encrypt(encryption: MediaEncryption): void {
    const { subscribe, room, username } = this.#options;
    for (const transceiver of this.peer.getTransceivers()) {
      keepEncryptable(transceiver);
      if (subscribe === undefined) encryption.encrypt(transceiver.sender, { room, username });
      else encryption.decrypt(transceiver.receiver, this);
    }
  }

  /** With the mark of a screen (RFC 4796). */
  #offer(): string {
    const { sdp } = this.peer.localDescription!;
    const mid = `a=mid:${this.#screen?.mid}\r\n`;
    return sdp.replace(mid, `${mid}a=content:slides\r\n`);
  }

  async #gathered(): Promise<void> {
    while (this.peer.iceGatheringState !== 'complete') {
      await new Promise((resolve) =>
        this.peer.addEventListener('icegatheringstatechange', resolve, { once: true }),
      );
    }
  }

  #changed(): void {
    const { connectionState } = this.peer;
    if (connectionState === 'disconnected') this.emit('interrupted', {});
    if (connectionState === 'connected') this.emit('resumed', {});
    if (connectionState === 'failed') this.#end('NETWORK', undefined);
  }

  /** Open the stream of events. Call it once, after the listeners are added, for the first events come at once. */
  follow(): void {
    if (this.#hasEnded) return;
    const events = new EventSource(`${this.#location}/events`);
    // It connects again by itself, and gives up when the relay does not know the session any more.
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) this.#end('NETWORK', undefined);
    };
    const on = <T>(name: string, take: (data: T) => void) =>
      events.addEventListener(name, ({ data }) => take(JSON.parse(data)));
    on<Muted>('mute', ({ kinds, own = [] }) => this.#mute({ kinds, own }));
    on('renew', () => this.emit('renew', {}));
    on<{ publishers: string[] }>('publishers', ({ publishers }) =>
      this.emit('publishers', { usernames: publishers }),
    );
    on<{ challenge: string }>('challenge', ({ challenge }) => {
      this.#requests.challenge = challenge;
      if (!this.#requests.isCurrent) this.renew().catch(() => undefined);
    });
    on<{ code: string; reason?: string }>('end', ({ code, reason }) => this.#end(code, reason));
    this.#events = events;
  }

  /** A stream begins with what is muted, which most often is nothing, as before. */
  #mute(detail: Muted): void {
    if (JSON.stringify(detail) === JSON.stringify(this.#muted)) return;
    this.#muted = detail;
    this.emit('muted', detail);
  }

  #end(code: string, reason: string | undefined): void {
    if (this.#hasEnded) return;
    this.#stop();
    this.emit('ended', { code, reason });
  }

  #stop(): void {
    this.#hasEnded = true;
    this.#events?.close();
    this.peer.close();
  }
}

export function makeCertificate(): Promise<RTCCertificate> {
  return RTCPeerConnection.generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' } as EcKeyGenParams);
}
