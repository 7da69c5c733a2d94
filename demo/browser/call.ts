/** A participant's stay in the room, by the device SDK: a token, the connections to the relay, and what this browser counts. */
import {
  connect,
  createDevice,
  type Device,
  type RelayConnection,
  type Renewable,
  Session,
} from '../../sdk/typescript/src/device/index.ts';
import type { Counts, Invitation } from '../state.ts';
import { takePlace } from './place.ts';

export interface CallEvents {
  /** Media of another participant. */
  track(username: string, track: MediaStreamTrack): void;
  /** How the stay of a participant ended, as the session tells it, and in words. */
  ended(username: string, code: string, words: string): void;
}

/** The newest picture of each participant, as it was decoded here. */
export interface Decoded {
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  readonly perSecond: number;
}

const MODERATED: Readonly<Record<string, string>> = {
  kicked: 'The host has removed you from the room.',
  banned: 'The host has banned you from the room.',
  closed: 'The host has closed the room.',
};

export class Call {
  readonly username: string;
  /** Since the token was asked for. */
  connectedMs = 0;
  readonly stream: MediaStream | undefined;
  readonly #session: Session<Renewable>;
  readonly #close: () => void;
  #connection: RelayConnection | undefined;
  /** Whose a track is, by its id. */
  readonly #owners = new Map<string, string>();

  private constructor(
    username: string,
    session: Session<Renewable>,
    stream: MediaStream | undefined,
    close: () => void,
  ) {
    this.username = username;
    this.#session = session;
    this.stream = stream;
    this.#close = close;
  }

  /** Throws what the SDK throws: `JoinError`, `ConnectError`. */
  static async join(
    { room, credential }: Invitation,
    wanted: string,
    open: (username: string) => Promise<MediaStream> | MediaStream | undefined,
    events: CallEvents,
  ): Promise<Call> {
    const givePlaceBack = await takePlace();
    const ending = new AbortController();
    let stream: MediaStream | undefined;
    const close = () => {
      ending.abort();
      givePlaceBack();
      stop(stream);
    };
    try {
      stream = await open(wanted);
      const startedAt = performance.now();
      const device = await createDevice();
      const request = { url: location.origin, credential, room, username: wanted };
      const grant = await device.join(request);
      const session = new Session({ grant, renew: (options) => device.join(request, options) });
      const call = new Call(grant.username, session, stream, close);
      call.#follow(events);
      await call.#connect(device, room, events);
      await call.#opened(ending.signal);
      call.connectedMs = Math.round(performance.now() - startedAt);
      return call;
    } catch (error) {
      close();
      throw error;
    }
  }

  /** What this browser counted, and the newest picture of each other participant. */
  async read(): Promise<{ counts: Counts; decoded: Map<string, Decoded> }> {
    const reports = await Promise.all((this.#connection?.peers ?? []).map((peer) => peer.getStats()));
    const rtp = reports.flatMap((report) => [...report.values()]);
    let [received, sent, frames, width, height] = [0, 0, 0, 0, 0];
    const decoded = new Map<string, Decoded>();
    for (const each of rtp) {
      if (each.type === 'outbound-rtp') sent += each.bytesSent + each.headerBytesSent;
      if (each.type !== 'inbound-rtp') continue;
      received += each.bytesReceived + each.headerBytesReceived;
      if (each.kind !== 'video') continue;
      frames += each.framesDecoded ?? 0;
      if (each.frameWidth) [width, height] = [each.frameWidth, each.frameHeight];
      const owner = this.#owners.get(each.trackIdentifier);
      if (owner === undefined || !each.frameWidth) continue;
      decoded.set(owner, {
        frames: each.framesDecoded,
        width: each.frameWidth,
        height: each.frameHeight,
        perSecond: each.framesPerSecond ?? 0,
      });
    }
    const { connectedMs } = this;
    return { counts: { received, sent, frames, width, height, connectedMs }, decoded };
  }

  async leave(): Promise<void> {
    this.#session.leave();
    this.#close();
    await this.#connection?.close();
  }

  async #connect(device: Device, room: string, { track }: CallEvents): Promise<void> {
    this.#connection = await connect(location.origin, {
      session: this.#session,
      device,
      room,
      username: this.username,
      ...(this.stream && { publish: this.stream }),
    });
    this.#connection.on('track', (got) => {
      this.#owners.set(got.track.id, got.username);
      track(got.username, got.track);
    });
  }

  #follow({ ended }: CallEvents): void {
    const end = (code: string, words: string) => {
      this.#close();
      ended(this.username, code, words);
    };
    const session = this.#session;
    session.on('moderated', ({ code }) => end(code, MODERATED[code] ?? 'The host has ended your stay.'));
    session.on('hostEnded', () => end('ended', 'The host has ended the room.'));
    session.on('networkFailure', () => end('network', 'The connection was lost.'));
    session.on('tokenExpired', () => end('expired', 'The token has expired, and there was no new one.'));
  }

  /** Fails if the stay ends before the connection is open. */
  async #opened(signal: AbortSignal): Promise<void> {
    const [peer] = this.#connection!.peers;
    while (peer && peer.connectionState !== 'connected') {
      signal.throwIfAborted();
      await new Promise((resolve) => {
        peer.addEventListener('connectionstatechange', resolve, { once: true });
        signal.addEventListener('abort', resolve, { once: true });
      });
    }
    signal.throwIfAborted();
  }
}

function stop(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) {
    track.stop();
    // No device tells of the end of a drawn picture.
    track.dispatchEvent(new Event('ended'));
  }
}
