/**
 * The provider of the benchmark: as little work per request as uWebSockets.js allows, so that it never is what is measured.
 * Prints `listening <port>` when ready.
 *
 * | Call | Reply |
 * |---|---|
 * | `POST …/chat/completions`, model `bench-r<bytes>` | a chat completion of about so many bytes |
 * | the same, model `bench-s<frames>x<ms>` | an event stream: a frame at once, then one every so many milliseconds (0: all at once) |
 * | `POST …/embeddings` | one vector of 256 numbers |
 * | anything else | the body's bytes, under its own content type |
 *
 * Every frame carries the time at which it was written as `"content":"t<µs>"` (CLOCK_MONOTONIC, the same in every process).
 */
import type { HttpResponse } from 'uWebSockets.js';
import { uws } from './uws.ts';

interface Script {
  /** The whole reply. Null for a stream. */
  readonly reply: Buffer | null;
  readonly frames: number;
  readonly cadenceMs: number;
}

interface Stream {
  readonly response: HttpResponse;
  readonly script: Script;
  readonly model: string;
  sent: number;
  dueMs: number;
  blocked: boolean;
  gone: boolean;
}

const scripts = new Map<string, Script>();
const embeddings = Buffer.from(
  JSON.stringify({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: Array.from({ length: 256 }, (_, i) => Math.sin(i)) }],
    model: 'text-embedding-bench',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  }),
);
const modelMark = Buffer.from('"model":"');

/** Streams wait here by cadence. All in one queue have the same cadence, so the head is always the next one due. */
const queues = new Map<number, Stream[]>();
let ticker: NodeJS.Timeout | null = null;

const app = uws.App();
app.any('/*', (response, request) => {
  const path = request.getUrl();
  const contentType = request.getHeader('content-type');
  let body: Buffer | null = null;
  let stream: Stream | null = null;
  response.onAborted(() => {
    if (stream) stream.gone = true;
  });
  response.onData((piece, isLast) => {
    // The piece is valid only here. A single piece is copied once, several are joined.
    body = body ? Buffer.concat([body, Buffer.from(piece)]) : isLast ? Buffer.from(piece) : Buffer.from(piece.slice(0));
    if (!isLast) return;
    if (path.endsWith('/chat/completions')) {
      const model = modelOf(body);
      const script = scriptOf(model);
      if (script.reply) {
        response.writeHeader('content-type', 'application/json').end(script.reply);
        return;
      }
      stream = { response, script, model, sent: 0, dueMs: 0, blocked: false, gone: false };
      begin(stream);
    } else if (path.endsWith('/embeddings')) {
      response.writeHeader('content-type', 'application/json').end(embeddings);
    } else {
      response.writeHeader('content-type', contentType || 'application/octet-stream').end(body);
    }
  });
});
app.listen('127.0.0.1', Number(process.argv[2] ?? 0), (token) => {
  if (!token) throw new Error('the fake upstream cannot listen');
  process.stdout.write(`listening ${uws.us_socket_local_port(token)}\n`);
});
process.on('SIGTERM', () => process.exit(0));

function modelOf(body: Buffer): string {
  const from = body.indexOf(modelMark);
  if (from < 0) return 'bench-r1000';
  const begin = from + modelMark.length;
  return body.toString('latin1', begin, body.indexOf(0x22, begin));
}

function scriptOf(model: string): Script {
  let script = scripts.get(model);
  if (!script) {
    const streamed = /^bench-s(\d+)x(\d+)$/.exec(model);
    const bytes = Number(/^bench-r(\d+)$/.exec(model)?.[1] ?? 1000);
    script = streamed
      ? { reply: null, frames: Number(streamed[1]), cadenceMs: Number(streamed[2]) }
      : { reply: completion(model, bytes), frames: 0, cadenceMs: 0 };
    // Callers choose the names, so their number is limited.
    if (scripts.size < 1000) scripts.set(model, script);
  }
  return script;
}

function completion(model: string, bytes: number): Buffer {
  const withText = (content: string) =>
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_760_000_000,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 150, completion_tokens: 120, total_tokens: 270 },
    });
  return Buffer.from(withText('lorem ipsum '.repeat(bytes / 12 + 1).slice(0, Math.max(1, bytes - withText('').length))));
}

function begin(stream: Stream): void {
  const { response, script } = stream;
  response.onWritable(() => {
    stream.blocked = false;
    if (script.cadenceMs === 0) writeAll(stream);
    return true;
  });
  response.cork(() => {
    response.writeHeader('content-type', 'text/event-stream');
    response.write(frame(stream.model, true));
  });
  stream.sent = 1;
  if (script.cadenceMs === 0) writeAll(stream);
  else enqueue(stream, performance.now());
}

function writeAll(stream: Stream): void {
  while (!stream.blocked && !stream.gone && stream.sent <= stream.script.frames) writeNext(stream);
}

/** Sends one more frame, or the end after the last. Returns true when the stream has ended. */
function writeNext(stream: Stream): boolean {
  if (stream.gone) return true;
  // A client that does not read gets no further frame until it reads.
  if (stream.blocked) return false;
  const { response } = stream;
  if (stream.sent < stream.script.frames) {
    stream.sent++;
    response.cork(() => {
      stream.blocked = !response.write(frame(stream.model, false));
    });
    return false;
  }
  stream.sent++;
  stream.gone = true;
  response.cork(() => {
    response.end(lastFrames(stream.model));
  });
  return true;
}

function enqueue(stream: Stream, nowMs: number): void {
  stream.dueMs = nowMs + stream.script.cadenceMs;
  const queue = queues.get(stream.script.cadenceMs);
  if (queue) queue.push(stream);
  else queues.set(stream.script.cadenceMs, [stream]);
  ticker ??= setInterval(tick, 1);
}

function tick(): void {
  const nowMs = performance.now();
  let waiting = 0;
  for (const queue of queues.values()) {
    let due = 0;
    while (due < queue.length && (queue[due] as Stream).dueMs <= nowMs) due++;
    for (const stream of queue.splice(0, due)) {
      const overdueMs = nowMs - stream.dueMs;
      if (!writeNext(stream)) enqueue(stream, nowMs - Math.min(overdueMs, stream.script.cadenceMs));
    }
    waiting += queue.length;
  }
  if (waiting > 0 || ticker === null) return;
  clearInterval(ticker);
  ticker = null;
}

function frame(model: string, first: boolean): string {
  const role = first ? '"role":"assistant",' : '';
  const stamp = process.hrtime.bigint() / 1000n;
  return `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${model}","choices":[{"index":0,"delta":{${role}"content":"t${stamp}"},"logprobs":null,"finish_reason":null}]}\n\n`;
}

function lastFrames(model: string): string {
  const head = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${model}"`;
  const usage = '"usage":{"prompt_tokens":150,"completion_tokens":64,"total_tokens":214}';
  return `${head},"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n${head},"choices":[],${usage}}\n\ndata: [DONE]\n\n`;
}
