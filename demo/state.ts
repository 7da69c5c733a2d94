/** What the back end of the demo tells its pages, as JSON. */

/** What one participant's browser counted since it first joined. */
export interface Counts {
  /** Bytes of RTP, header and payload. */
  readonly received: number;
  readonly sent: number;
  /** Pictures that were decoded, from all others. */
  readonly frames: number;
  /** The newest picture of another participant; 0: there was none. */
  readonly width: number;
  readonly height: number;
  /** Milliseconds from the question for a token to the open connection. */
  readonly connectedMs: number;
}

export interface Person {
  readonly username: string;
  /** `false`: has left, which changes no more than what the relay reports last. */
  readonly isPresent: boolean;
  /** Any of `audio` and `video`. */
  readonly muted: readonly string[];
  /** That of the newest usage record; empty before the first. */
  readonly tier: string;
  /** Bytes that the relay has reported as sent to the participant. */
  readonly relayed: number;
  /** What that cost: `$0.000009`. */
  readonly charged: string;
  readonly counts?: Counts | undefined;
}

/** What a page needs to join. */
export interface Invitation {
  readonly room: string;
  /** A device credential for this room alone. */
  readonly credential: string;
}

export interface Entry {
  readonly kind: string;
  /** `-$0.000009`. */
  readonly amount: string;
  /** For usage, the participant. */
  readonly detail: string;
}

export interface Happening {
  /** 1, 2, 3, ... */
  readonly number: number;
  readonly text: string;
}

/** For the page of the host alone. */
export interface HostState {
  readonly tenant: string;
  /** The sandbox's payment page. */
  readonly payAt: string;
  /** `$19.999991`. */
  readonly balance: string;
  readonly hasPaid: boolean;
  /** The sum of what was charged for usage. */
  readonly spent: string;
  readonly entries: readonly Entry[];
  /** The path of the page that others join with, while a room is open. */
  readonly link?: string | undefined;
  readonly happenings: readonly Happening[];
}

export interface State {
  /** Another browser signed up, and is the host. */
  readonly isTaken: boolean;
  /** Absent: no tenant has signed up, or the page is not the host's. */
  readonly host?: HostState | undefined;
  /** Absent: there is no open room. */
  readonly invitation?: Invitation | undefined;
  /** Also those who have left. */
  readonly people: readonly Person[];
}
