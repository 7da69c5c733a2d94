import { expect, test } from 'vitest';
import { type Chosen, isAddressed, readCandidates, readOffer } from '../src/offer.ts';

const HASH = Array.from({ length: 32 }, (_, at) => at.toString(16).padStart(2, '0')).join(':');
const HEAD = `v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=fingerprint:sha-256 ${HASH.toUpperCase()}\r\n`;
const AUDIO = `m=audio 9 UDP/TLS/RTP/SAVPF 111 0\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=sendonly\r
a=rtpmap:111 opus/48000/2\r\na=rtpmap:0 PCMU/8000\r\na=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r\n`;
const video = (
  lines = '',
  mid = 1,
) => `m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 108\r\nc=IN IP4 0.0.0.0\r\na=mid:${mid}\r
a=sendonly\r\na=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack pli\r\na=rtcp-fb:96 transport-cc\r\na=rtpmap:97 rtx/90000\r
a=fmtp:97 apt=96\r\na=rtpmap:102 H264/90000\r\na=fmtp:102 packetization-mode=1;profile-level-id=64001f\r
a=rtpmap:108 H264/90000\r\na=fmtp:108 packetization-mode=1;profile-level-id=42e01f\r\n${lines}`;

const read = (sdp: string) => readOffer(sdp, 'sendonly');

test('an offer has a fingerprint, and for each kind the codecs that are carried', () => {
  const slides = 'a=content:slides\r\n';
  const {
    transport: _transport,
    answer: _answer,
    ...offer
  } = read(HEAD + AUDIO + video('a=ssrc:11 cname:x\r\na=ssrc:12 cname:x\r\n') + video(slides, 2));
  const pictures = [
    { name: 'VP8', payloadType: 96 },
    { name: 'H264', payloadType: 108 },
  ];
  expect(offer).toStrictEqual({
    fingerprint: HASH,
    candidates: 0,
    sections: [
      { mid: '0', kind: 'audio', codecs: [{ name: 'opus', payloadType: 111 }], ssrcs: [] },
      { mid: '1', kind: 'video', codecs: pictures, ssrcs: [11, 12] },
      { mid: '2', kind: 'screen', codecs: pictures, ssrcs: [] },
    ],
  });
});

const OPUS = { codec: { name: 'opus', payloadType: 111 } } as const;
const H264 = { codec: { name: 'H264', payloadType: 108 } } as const;
/** As the library answers. */
const TRANSPORT = `v=0\r\no=rtc 1 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\na=group:LS 0\r
a=fingerprint:sha-256 ${HASH}\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 192.0.2.2\r\na=mid:0\r\na=sendrecv\r
a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack pli\r\na=rtcp-mux\r\na=setup:active\r\na=ice-ufrag:u\r\na=ice-pwd:p\r
a=candidate:1 1 UDP 1 192.0.2.2 9 typ host\r\n`;

test('the library gets one section, which says how to connect', () => {
  const own = 'a=ice-ufrag:u\r\na=ice-pwd:p\r\na=setup:actpass\r\n';
  const { transport } = read(HEAD + AUDIO + own + video());
  expect(transport.match(/^m=.*/gm)).toEqual(['m=video 9 UDP/TLS/RTP/SAVPF 96']);
  for (const line of own.trim().split('\r\n')) expect(transport).toContain(`${line}\r\n`);
  expect(transport.toLowerCase()).toContain(`a=fingerprint:sha-256 ${HASH}`);
  expect(transport).not.toMatch(/opus|H264|extmap|ssrc/);
});

test('the answer has each section, with one codec, one layer, and no extensions', () => {
  const layers =
    'a=rid:q send\r\na=rid:h send\r\na=simulcast:send q;h\r\na=ssrc-group:FID 1 2\r\na=ssrc:1 cname:x\r\n';
  const offer = read(HEAD + AUDIO + video(layers));
  const sdp = offer.answer(
    TRANSPORT,
    new Map<string, Chosen>([
      ['0', OPUS],
      ['1', H264],
    ]),
  );
  expect(sdp).toContain('a=group:BUNDLE 0 1\r\n');
  expect(sdp.match(/^m=.*/gm)).toEqual([
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    'm=video 9 UDP/TLS/RTP/SAVPF 108',
  ]);
  expect(sdp.match(/^a=(mid|recvonly|sendonly).*/gm)).toEqual([
    'a=mid:0',
    'a=recvonly',
    'a=mid:1',
    'a=recvonly',
  ]);
  expect(sdp.match(/^a=(ice-ufrag:u|ice-pwd:p|setup:active)/gm)).toHaveLength(6);
  expect(sdp).toContain('a=fmtp:108 packetization-mode=1');
  expect(sdp).not.toMatch(/simulcast|rid|extmap|rtx|transport-cc|ssrc|VP8/);
});

test('the answer names who sends to a subscriber, and the feedback that is taken', () => {
  const offer = readOffer((HEAD + video()).replace('sendonly', 'recvonly'), 'recvonly');
  const chosen = { codec: { name: 'VP8', payloadType: 96 }, ssrc: 7 } as const;
  const sdp = offer.answer(TRANSPORT, new Map([['1', chosen]]));
  expect(sdp.match(/^a=(sendonly|ssrc|msid:|rtcp-fb).*/gm)).toEqual([
    'a=rtcp-fb:96 nack pli',
    'a=msid:7 video',
    'a=sendonly',
    'a=ssrc:7 cname:7',
  ]);
});

test('a section without a port of its own is offered, and a refused one is not', () => {
  const bundled = AUDIO.replace('m=audio 9', 'm=audio 0');
  expect(read(`${HEAD + video()}${bundled}a=bundle-only\r\n`).sections).toHaveLength(2);
  expect(read(HEAD + video() + bundled).sections).toHaveLength(1);
});

test.each([
  ['nothing', '', 400],
  ['JSON', '{}', 400],
  ['no media', HEAD, 400],
  ['a data channel alone', `${HEAD}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:0\r\n`, 400],
  ['no fingerprint', HEAD.replace(/a=fingerprint.*\r\n/, '') + AUDIO, 400],
  ['a fingerprint of SHA-1', HEAD.replace('sha-256', 'sha-1') + AUDIO, 400],
  ['a short fingerprint', HEAD.replace(/:1F/, '') + AUDIO, 400],
  ['two sections with one mid', HEAD + AUDIO + video('', 0), 400],
  ['two fingerprints', `${HEAD + AUDIO}a=fingerprint:sha-256 ${HASH.replace('00', 'ff')}\r\n`, 400],
  ['a section without a mid', HEAD + AUDIO.replace('a=mid:0\r\n', ''), 400],
  ['a mid of markup', HEAD + AUDIO.replace('a=mid:0', 'a=mid:<b>'), 400],
  ['the other direction', HEAD + AUDIO.replace('sendonly', 'recvonly'), 400],
  ['two cameras', HEAD + video() + video('', 2), 406],
  ['no codec that is carried', HEAD + AUDIO.replace('opus', 'G722'), 406],
])('an offer with %s is refused', (_, sdp, status) => {
  expect(() => read(sdp)).toThrow(expect.objectContaining({ name: 'Refused', status }));
});

test('candidates are read from a fragment', () => {
  const fragment =
    'a=ice-ufrag:x\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=candidate:1 1 UDP 1 192.0.2.1 9 typ host\r\na=end-of-candidates\r\n';
  expect(readCandidates(fragment)).toStrictEqual(['candidate:1 1 UDP 1 192.0.2.1 9 typ host']);
  expect(readCandidates('\0\r\nno candidate')).toStrictEqual([]);
});

test('candidates count wherever they are, and the library gets those with an address', () => {
  const candidate = (host: string) => `a=candidate:1 1 UDP 1 ${host} 9 typ host\r\n`;
  const offer = read(
    `${HEAD}${candidate('192.0.2.1')}${AUDIO}${candidate('name.local')}${candidate('2001:db8::1')}`,
  );
  expect(offer.candidates).toBe(3);
  expect(offer.transport.match(/candidate:.*/g)).toEqual(['candidate:1 1 UDP 1 2001:db8::1 9 typ host']);
  expect(isAddressed('candidate:1 1 UDP 1 name.example 9 typ host')).toBe(false);
  expect(isAddressed('candidate:1 1 UDP 1 192.0.2.1 9 typ host')).toBe(true);
  // The library refuses it.
  expect(isAddressed('candidate:1')).toBe(true);
});
