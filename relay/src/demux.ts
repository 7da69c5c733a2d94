/** What comes over a publisher's connection is media of several kinds: each packet goes where it belongs (RFC 8843, 9.2). */
import type { Section } from './offer.ts';
import { Reception } from './reception.ts';
import type { Source } from './room.ts';
import { receiverReport, senderReportIn } from './rtcp.ts';
import type { RtpHeader } from './rtp.ts';

/** A browser has another one after each change of its tracks. The library keeps all, and looks through them for each packet. */
const SENDERS_MAX = 16;

/** A sender (SSRC), and the kind that it sends, if it is known. */
interface Sender {
  readonly source: Source | undefined;
  readonly reception: Reception;
}

export class Demux {
  readonly #sections: readonly Section[];
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #senders = new Map<number, Sender>();

  /** `sources`: by kind. */
  constructor(sections: readonly Section[], sources: ReadonlyMap<string, Source>) {
    this.#sections = sections;
    this.#sources = sources;
  }

  /** Where a packet of RTP belongs, if that is known. `TOO_FAST`: from more senders than a publisher may have. */
  take({ ssrc, sequence, payloadType }: RtpHeader): Source | undefined | 'TOO_FAST' {
    let sender = this.#senders.get(ssrc);
    if (!sender) {
      if (this.#senders.size === SENDERS_MAX) return 'TOO_FAST';
      sender = { source: this.#find(ssrc, payloadType), reception: new Reception(ssrc, sequence) };
      this.#senders.set(ssrc, sender);
    }
    sender.reception.take(sequence);
    return sender.source;
  }

  /** The answer to the report of a sender, with the bits a second that it may send. */
  answer(packet: Buffer, bitrate: number): Buffer | undefined {
    const report = senderReportIn(packet);
    const sender = report && this.#senders.get(report.ssrc);
    return sender && receiverReport(sender.reception.report(), report.sentAt, bitrate);
  }

  /** The offer names the sender, or only one kind has the type of its packets. */
  #find(ssrc: number, payloadType: number): Source | undefined {
    const named = this.#sections.find(({ ssrcs }) => ssrcs.includes(ssrc));
    if (named) return this.#sources.get(named.kind);
    const alike = [...this.#sources.values()].filter((source) => source.payloadType === payloadType);
    return alike.length === 1 ? alike[0] : undefined;
  }
}
