/** Event streams as a client sees them. */
import { type Event, Event_Type } from '@boxoffice/contract/event';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { expect, vi } from 'vitest';
import { CallError } from '../support/grpc.ts';

export interface StreamedEvent {
  readonly event?: Event | undefined;
  readonly resumeToken: string;
}

export interface Reading {
  /** The messages received so far. */
  readonly responses: readonly StreamedEvent[];
  /** How it ended. */
  readonly ended: Promise<CallError | undefined>;
  /** Resolves with all messages once `found` is true for one. */
  until(found: (response: StreamedEvent) => boolean): Promise<readonly StreamedEvent[]>;
  cancel(): Promise<void>;
}

export function read(stream: ClientReadableStream<StreamedEvent>): Reading {
  const responses: StreamedEvent[] = [];
  stream.on('data', (response: StreamedEvent) => responses.push(response));
  const ended = new Promise<CallError | undefined>((resolve) => {
    stream.on('error', (error) => resolve(new CallError(error as ServiceError)));
    stream.on('end', () => resolve(undefined));
  });
  return {
    responses,
    ended,
    until: async (found) => {
      await vi.waitFor(() => expect(responses.some(found)).toBe(true), { timeout: 60_000, interval: 5 });
      return responses;
    },
    cancel: async () => {
      stream.cancel();
      await ended;
    },
  };
}

const TYPE_NAMES = new Map<number, string>(Object.entries(Event_Type).map(([name, type]) => [type, name]));

export const typeOf = (event: Pick<Event, 'type'> | undefined) => TYPE_NAMES.get(event!.type)!;

export const isBookmark = (response: StreamedEvent) => response.event?.type === Event_Type.BOOKMARK;

/** The event numbers, without snapshots and bookmarks. */
export function seqsOf(responses: readonly StreamedEvent[]): bigint[] {
  return responses.filter((each) => !isBookmark(each) && each.event!.seq > 0n).map((each) => each.event!.seq);
}

/** `1n, 2n, ... count`. */
export function upTo(count: number): bigint[] {
  return Array.from({ length: count }, (_, at) => BigInt(at + 1));
}
