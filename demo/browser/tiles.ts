/** A tile for each participant: picture, counts, and for the host its buttons. */
import type { Person } from '../state.ts';
import type { Decoded } from './call.ts';

export interface TileActions {
  mute(username: string, kind: 'audio' | 'video', isMuted: boolean): void;
  kick(username: string): void;
}

const number = new Intl.NumberFormat('en-US');

export class Tiles {
  readonly #list = document.querySelector<HTMLElement>('#tiles')!;
  readonly #template = document.querySelector<HTMLTemplateElement>('#tile')!;
  readonly #tiles = new Map<string, HTMLElement>();
  readonly #streams = new Map<string, MediaStream>();
  /** Pictures that had arrived from a participant when its tile was last drawn. */
  readonly #frames = new Map<string, number>();
  /** Only the host has them. */
  readonly #actions: TileActions | undefined;
  #isSilent = true;

  constructor(actions: TileActions | undefined) {
    this.#actions = actions;
  }

  /** A track replaces an older one of its kind. */
  attach(username: string, track: MediaStreamTrack): void {
    const stream = this.#streams.get(username) ?? new MediaStream();
    for (const older of stream.getTracks()) if (older.kind === track.kind) stream.removeTrack(older);
    stream.addTrack(track);
    this.#streams.set(username, stream);
  }

  detachAll(): void {
    this.#streams.clear();
    this.#frames.clear();
  }

  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  /** `me`: the participant of this page, which always hears nothing of itself. */
  show(people: readonly Person[], me: string | undefined, decoded: ReadonlyMap<string, Decoded>): void {
    for (const [username, tile] of this.#tiles) {
      if (people.some((person) => person.username === username)) continue;
      tile.remove();
      this.#tiles.delete(username);
    }
    for (const person of people) {
      const tile = this.#tiles.get(person.username) ?? this.#add(person.username);
      this.#fill(tile, person, person.username === me, decoded.get(person.username));
    }
  }

  #add(username: string): HTMLElement {
    const tile = this.#template.content.cloneNode(true) as DocumentFragment;
    const item = tile.querySelector<HTMLElement>('li')!;
    item.querySelector('bdi')!.textContent = username;
    item.setAttribute('aria-label', username);
    this.#list.append(item);
    this.#tiles.set(username, item);
    const actions = this.#actions;
    if (!actions) return item;
    item.querySelector<HTMLElement>('.actions')!.hidden = false;
    for (const kind of ['audio', 'video'] as const) {
      const button = item.querySelector<HTMLButtonElement>(`.mute-${kind}`)!;
      nameFor(button, username);
      button.addEventListener('click', () =>
        actions.mute(username, kind, button.getAttribute('aria-pressed') !== 'true'),
      );
    }
    const kick = item.querySelector<HTMLButtonElement>('.kick')!;
    nameFor(kick, username);
    kick.addEventListener('click', () => actions.kick(username));
    return item;
  }

  #fill(tile: HTMLElement, person: Person, isMe: boolean, got?: Decoded) {
    const { username, muted, tier, relayed, charged, counts } = person;
    const find = <E extends HTMLElement>(selector: string) => tile.querySelector<E>(selector)!;
    const video = find<HTMLVideoElement>('video');
    const stream = this.#streams.get(username) ?? null;
    if (video.srcObject !== stream) video.srcObject = stream;
    video.muted = isMe || this.#isSilent;
    for (const kind of ['audio', 'video']) {
      find(`.mute-${kind}`).setAttribute('aria-pressed', String(muted.includes(kind)));
    }
    find('.you').hidden = !isMe;
    find('.muted').hidden = muted.length === 0;
    write(
      find('.muted'),
      `${muted.map((kind) => (kind === 'audio' ? 'sound' : 'picture')).join(' and ')} muted`,
    );
    const arrives = isMe ? stream !== null : got !== undefined && got.frames !== this.#frames.get(username);
    if (got) this.#frames.set(username, got.frames);
    find('.nothing').hidden = arrives;
    write(
      find('.nothing'),
      muted.includes('video') ? 'The host has muted this picture' : 'No picture arrives',
    );
    const size = isMe ? sizeOf(video) : got && `${got.width} × ${got.height}, ${got.perSecond} a second`;
    write(find('.picture'), (arrives && size) || 'none');
    write(find('.relayed'), `${number.format(relayed)} bytes`);
    write(find('.received'), `${number.format(counts?.received ?? 0)} bytes`);
    write(find('.charged'), tier ? `${charged}, tier ${tier}` : charged);
  }
}

/** The same words stand on each tile. */
function nameFor(button: HTMLButtonElement, username: string): void {
  button.setAttribute('aria-label', `${button.textContent}: ${username}`);
}

function sizeOf({ videoWidth, videoHeight }: HTMLVideoElement): string {
  return videoWidth === 0 ? '' : `${videoWidth} × ${videoHeight}, sent`;
}

/** Text that is the same is left alone: a selection in it stays. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
