import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Reception } from '../src/reception.ts';
import { feedbackIn, pictureLoss, receiverReport, senderReportIn } from '../src/rtcp.ts';

/** A packet with words after its header: the sender, the media, and more. */
function rtcp(format: number, type: number, ...words: number[]): Buffer {
  const packet = Buffer.alloc(4 + 4 * words.length);
  packet.set([0x80 | format, type, 0, words.length]);
  for (const [at, word] of words.entries()) packet.writeUInt32BE(word, 4 + 4 * at);
  return packet;
}

const report = rtcp(0, 201, 5);
const nack = (...entries: number[]) => rtcp(1, 205, 5, 9, ...entries);
const heard = (...packets: Buffer[]) => [...feedbackIn(Buffer.concat(packets))];

describe('feedback', () => {
  test('asks for key frames, behind a report too', () => {
    const asked = [{ ssrc: 9, missing: undefined }];
    expect(heard(pictureLoss(9))).toEqual(asked);
    expect(heard(report, rtcp(4, 206, 5, 0, 9, 0))).toEqual(asked);
  });

  test('names what is missing, in each of the joined packets', () => {
    expect(heard(report, nack(0x0007_8001), nack(0xffff_0001))).toEqual([
      { ssrc: 9, missing: [7, 8, 23] },
      { ssrc: 9, missing: [0xffff, 0] },
    ]);
  });

  test.each([
    ['a report', report],
    ['a bit rate', rtcp(15, 206, 5, 0, 0, 0)],
    ['a length beyond the end', nack(7).subarray(0, 12)],
    ['feedback without its media', rtcp(1, 206, 5)],
    ['a request for a full picture of nothing', rtcp(4, 206, 5, 9)],
    ['a description that is longer than its packet', Buffer.from('81ca00020000000501ff0000', 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('is not %s', (_what, bytes) => expect(heard(bytes)).toEqual([]));

  test('no bytes make the readers fail', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const packet = Buffer.from(bytes);
        senderReportIn(packet);
        for (const type of [205, 206]) heard(rtcp(1, type, 5, 9), packet);
      }),
    );
  });
});

describe('the answer to the report of a sender', () => {
  test('repeats its time, and says what was lost and how much it may send', () => {
    const sent = rtcp(0, 200, 9, 0x0001_2345, 0x6789_0000, 0, 0, 0);
    expect(senderReportIn(sent)).toEqual({ ssrc: 9, sentAt: 0x2345_6789 });
    const answer = receiverReport(
      { ssrc: 9, lostOf256: 64, lost: 2, highest: 70_000 },
      0x2345_6789,
      8_000_000,
    );
    const block = rtcp(1, 201, 1, 9, 0x4000_0002, 70_000, 0, 0x2345_6789, 0);
    // 8,000,000 = 250,000 * 2 ** 5.
    const limit = rtcp(15, 206, 1, 0, 0x5245_4d42, 0x0100_0000 + 5 * 0x4_0000 + 250_000, 9);
    expect(answer).toStrictEqual(Buffer.concat([block, limit]));
  });

  test('counts what is missing since the last one, across the end of the numbers', () => {
    const reception = new Reception(9, 65_534);
    for (const sequence of [65_534, 65_535, 1, 3]) reception.take(sequence);
    expect(reception.report()).toEqual({ ssrc: 9, lostOf256: 85, lost: 2, highest: 65_539 });
    // One comes late.
    for (const sequence of [2, 4]) reception.take(sequence);
    expect(reception.report()).toEqual({ ssrc: 9, lostOf256: 0, lost: 1, highest: 65_540 });
    expect(reception.report()).toMatchObject({ lostOf256: 0, lost: 1 });
  });
});
