/** Sends what a page answers. */
import { Readable } from 'node:stream';
import { html } from '@boxoffice/pages/html';
import type { FastifyReply } from 'fastify';
import { chooseCoding, compress } from '../http/compression.ts';
import { typeEventStream } from '../http/event-stream.ts';
import { FOR_EVER, sendStatic } from '../http/static-files.ts';
import type { Answer, Page, Told } from './answer.ts';
import { renderDone } from './done-cookie.ts';
import { PAGE_POLICY } from './shell.ts';

/** A page is compressed for one reader: more would take longer than it saves. */
const PAGE_QUALITY = 4;

export interface Sender {
  /** The page, with the layout of its console around it. */
  render(shown: Page): string;
  /** The `Set-Cookie` header of a new session, or of one that is over. */
  renderCookie(secret: string | null): string;
  /** The `Set-Cookie` header of a log-in that begins, or of one that is over. */
  renderLoginCookie(secret: string | null): string;
  /** The `Set-Cookie` header of what the next page tells, or of what this one has told. Absent: there is no session. */
  renderDoneCookie?(told: Told | null): string;
  /** What a form did before this page. */
  readonly done?: Told | undefined;
}

export function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  { render, renderCookie, renderLoginCookie, renderDoneCookie, done }: Sender,
): FastifyReply {
  if ('cookie' in answer && answer.cookie) reply.header('set-cookie', renderCookie(answer.cookie.secret));
  if ('loginCookie' in answer && answer.loginCookie)
    reply.header('set-cookie', renderLoginCookie(answer.loginCookie.secret));
  switch (answer.kind) {
    case 'page':
      if (done !== undefined && renderDoneCookie) reply.header('set-cookie', renderDoneCookie(null));
      return sendHtml(reply.code(answer.status ?? 200), render(withDone(answer.page, done)));
    case 'redirect':
      if (answer.done !== undefined && renderDoneCookie)
        reply.header('set-cookie', renderDoneCookie(answer.done));
      return reply.code(303).header('location', answer.to).send('');
    case 'events':
      return sendEvents(reply, answer.open);
    case 'json':
      return reply
        .code(answer.status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer.body));
    case 'asset':
      return sendStatic(reply, answer.file, FOR_EVER);
    case 'download':
      return sendDownload(reply, answer);
    case 'file':
      if (answer.saveAs) reply.header('content-disposition', `attachment; filename="${answer.saveAs}"`);
      return sendText(reply, answer.type, answer.body);
  }
}

function withDone(shown: Page, done: Told | undefined): Page {
  return done === undefined ? shown : { ...shown, body: html`${renderDone(done)}${shown.body}` };
}

/** The work behind it ends with the connection. */
function sendDownload(
  reply: FastifyReply,
  { type, chunks, saveAs, close }: Extract<Answer, { kind: 'download' }>,
): FastifyReply {
  reply.header('content-disposition', `attachment; filename="${saveAs}"`);
  reply.header('x-content-type-options', 'nosniff').type(type);
  const stream = Readable.from(chunks, { objectMode: false });
  if (close) stream.once('close', () => void close().catch(() => {}));
  if (reply.request.method !== 'HEAD') return reply.send(stream);
  stream.destroy();
  return reply.send('');
}

function sendEvents(reply: FastifyReply, open: (gone: AbortSignal) => AsyncIterable<string>): FastifyReply {
  typeEventStream(reply).header('x-content-type-options', 'nosniff');
  if (reply.request.method === 'HEAD') return reply.send('');
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return reply.send(Readable.from(open(gone.signal)));
}

export function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'same-origin');
  return sendText(reply, 'text/html; charset=utf-8', html);
}

/** Compressed, if the browser takes that. Pages hold no secret beside what another site could put into them. */
function sendText(reply: FastifyReply, type: string, text: string): FastifyReply {
  reply.header('x-content-type-options', 'nosniff').header('vary', 'accept-encoding').type(type);
  const bytes = Buffer.from(text);
  const coding = chooseCoding(reply.request.headers['accept-encoding'], bytes.length);
  if (coding === undefined) return reply.send(bytes);
  void compress(bytes, coding, PAGE_QUALITY).then(
    (compressed) => reply.header('content-encoding', coding).send(compressed),
    (error: unknown) => reply.send(error),
  );
  return reply;
}
