import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A provider that replies at random: correct replies in every framing, and replies that lie, stop, reset or go on too long. */
export interface HostileProvider {
  readonly host: string;
  /** Requests that arrived completely. */
  readonly requests: number;
  close(): Promise<void>;
}

type Random = () => number;

export async function startHostileProvider(random: Random): Promise<HostileProvider> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (random() < 0.03) {
      socket.destroy();
      return;
    }
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let request = takeRequest(); request !== null; request = takeRequest()) {
        requests++;
        void reply(socket, newReply(request, random), random);
      }
    });
    function takeRequest(): string | null {
      const headEnd = received.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? 0);
      if (headEnd < 4 || received.length < headEnd + length) return null;
      const request = received.slice(0, headEnd + length);
      received = received.slice(headEnd + length);
      return request;
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get requests() {
      return requests;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

type Ending = 'open' | 'end' | 'reset' | 'stall';

interface NewReply {
  readonly bytes: Buffer;
  readonly ending: Ending;
}

/** How long a reply that stalls is left open, in milliseconds. */
const stallMs = 300;

async function reply(socket: Socket, { bytes, ending }: NewReply, random: Random): Promise<void> {
  const pieces = pickOf(random, [1, 1, 1, 3, 15]);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    if (pieces > 1) await pause(random() * 5);
    socket.write(bytes.subarray(at, at + size));
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
  if (ending === 'stall') setTimeout(() => socket.destroy(), stallMs);
}

function newReply(request: string, random: Random): NewReply {
  const isStream = request.includes('"stream":true');
  const size = pickOf(random, [0, 50, 1000, 20_000, 70_000, 300_000]);
  const body = Buffer.from(newBody(request.includes('anthropic-version'), isStream, size, random));
  const framed = pickOf(random, framings)(body, random);
  const status = pickOf(random, [200, 200, 200, 200, 200, 429, 500, 503, 400, 204, 304]);
  const early = random() < 0.1 ? 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n' : '';
  const type = isStream ? 'text/event-stream' : 'application/json';
  const extra = random() < 0.1 ? pickOf(random, extraHeaders) : '';
  const version = framed.isOld ? '1.0' : '1.1';
  const head = `${early}HTTP/${version} ${status} Status\r\ncontent-type: ${type}\r\n${extra}${framed.head}\r\n`;
  return damaged(Buffer.concat([Buffer.from(head, 'latin1'), framed.body]), framed.ending ?? 'open', random);
}

function newBody(isAnthropic: boolean, isStream: boolean, size: number, random: Random): string {
  if (random() < 0.05) return 'x'.repeat(size);
  const text = 'y'.repeat(size);
  if (!isStream) return isAnthropic ? message(text) : completion(text);
  if (!isAnthropic) return `${chunkEvent.repeat(Math.ceil(size / chunkEvent.length))}data: [DONE]\n\n`;
  return messageStart + deltaEvent.repeat(Math.ceil(size / deltaEvent.length)) + messageEnd;
}

function completion(text: string): string {
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
  return JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage: { prompt_tokens: 1, completion_tokens: 2 } });
}

function message(text: string): string {
  const content = [{ type: 'text', text }];
  const usage = { input_tokens: 1, output_tokens: 2 };
  return JSON.stringify({ id: 'm', type: 'message', role: 'assistant', model: 'x', content, stop_reason: 'end_turn', usage });
}

const event = (data: { readonly type?: string; readonly [name: string]: unknown }) =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
const chunkEvent = event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'hello' } }] });
const deltaEvent = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } });
const started = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'x',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const messageStart =
  event({ type: 'message_start', message: started }) +
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
const messageEnd =
  event({ type: 'content_block_stop', index: 0 }) +
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }) +
  event({ type: 'message_stop' });

interface Framed {
  readonly head: string;
  readonly body: Buffer;
  readonly ending?: Ending;
  readonly isOld?: boolean;
}

const framings: readonly ((body: Buffer, random: Random) => Framed)[] = [
  (body) => ({ head: `content-length: ${body.length}\r\n`, body }),
  (body) => ({ head: 'transfer-encoding: chunked\r\n', body: chunks(body, body.length) }),
  (body) => ({ head: 'transfer-encoding: chunked\r\nconnection: close\r\n', body: chunks(body, body.length), ending: 'end' }),
  (body, random) => ({ head: 'transfer-encoding: chunked\r\n', body: chunks(body, pickOf(random, [7, 100, 5000])) }),
  (body) => ({ head: `content-length: ${body.length}\r\nconnection: close\r\n`, body, ending: 'end' }),
  (body) => ({ head: 'connection: close\r\n', body, ending: 'end' }),
  (body) => ({ head: '', body, ending: 'end', isOld: true }),
  // Framings that lie.
  (body) => ({ head: `content-length: ${body.length + 10}\r\n`, body, ending: 'end' }),
  (body) => ({ head: `content-length: ${Math.max(0, body.length - 10)}\r\n`, body }),
  (body) => ({ head: 'transfer-encoding: chunked\r\n', body: Buffer.concat([chunk(body), Buffer.from('zz\r\nmore')]) }),
  (body) => ({ head: `transfer-encoding: chunked\r\ncontent-length: ${body.length}\r\n`, body: chunks(body, body.length) }),
];

const extraHeaders = [
  'content-encoding: gzip\r\n',
  `x-long: ${'a'.repeat(100_000)}\r\n`,
  'x-bytes: \xff\xfe\r\n',
  'keep-alive: timeout=0\r\n',
  'retry-after: 0\r\n',
];

function damaged(bytes: Buffer, ending: Ending, random: Random): NewReply {
  const part = () => bytes.subarray(0, Math.floor(random() * bytes.length));
  const damage = pickOf(random, ['none', 'none', 'none', 'none', 'end', 'reset', 'stall', 'more'] as const);
  if (damage === 'none') return { bytes, ending };
  if (damage === 'more')
    return { bytes: Buffer.concat([bytes, Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')]), ending };
  return { bytes: part(), ending: damage };
}

/** Chunks of this many bytes, at most 500 of them. */
function chunks(body: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  const step = Math.max(1, size, Math.ceil(body.length / 500));
  for (let at = 0; at < body.length; at += step) parts.push(chunk(body.subarray(at, at + step)));
  return Buffer.concat([...parts, Buffer.from('0\r\nx-trailer: 1\r\n\r\n')]);
}

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export function pickOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
