/**
 * The provider of the benchmark: as little work per request as uWebSockets.js allows, so that it never is what is measured.
 * Prints `listening <port>` when ready.
 *
 * | Call | Reply |
 * |---|---|
 * | `POST …/chat/completions`, model `bench-r<bytes>` | a chat completion of about so many bytes |
 * | the same, model `bench-s<frames>x<ms>` | an event stream: a frame at once, then one every so many milliseconds (0: all at once) |
 * | `POST …/embeddings`, model `bench-v<count>x<numbers>` | so many vectors; one of 256 numbers for any other model |
 * | `POST …/responses` | a stream of 32 deltas at once whose first two events and last one have the instructions and tools of the request |
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
const vectors = new Map<string, Buffer>();
const responses = new Map<string, Buffer>();
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
      response.writeHeader('content-type', 'application/json').end(embeddingsOf(modelOf(body)));
    } else if (path.endsWith('/responses')) {
      const text = body.toString();
      response.writeHeader('content-type', 'text/event-stream').end(kept(responses, text, () => responseStream(text)));
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

/** Returns what was made for the name before. Callers choose the names, so their number is limited. */
function kept(known: Map<string, Buffer>, name: string, make: () => string): Buffer {
  const made = known.get(name) ?? Buffer.from(make());
  if (known.size < 100) known.set(name, made);
  return made;
}

function embeddingsOf(model: string): Buffer {
  const [, count, numbers] = /^bench-v(\d+)x(\d+)$/.exec(model) ?? [model, '1', '256'];
  return kept(vectors, `${count} ${numbers}`, () => {
    const data = Array.from({ length: Number(count) }, (_, index) => {
      const embedding = Array.from({ length: Number(numbers) }, (_, i) => Number((Math.sin(index * 31 + i) / 30).toPrecision(9)));
      return { object: 'embedding', index, embedding };
    });
    return JSON.stringify({ object: 'list', data, model, usage: { prompt_tokens: 8, total_tokens: 8 } });
  });
}

function responseStream(body: string): string {
  const { model, instructions = null, tools = [] } = JSON.parse(body) as Record<string, unknown>;
  const begun = {
    id: 'resp-bench',
    object: 'response',
    status: 'in_progress',
    model,
    instructions,
    tools,
    output: [],
    usage: null,
  };
  const part = { item_id: 'msg-bench', output_index: 0, content_index: 0 };
  const content = [{ type: 'output_text', text: 'word '.repeat(32), annotations: [] }];
  const output = [{ id: 'msg-bench', type: 'message', status: 'completed', role: 'assistant', content }];
  const usage = { input_tokens: 150, output_tokens: 64, total_tokens: 214 };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...Array.from({ length: 32 }, () => ({ type: 'response.output_text.delta', ...part, delta: 'word ' })),
    { type: 'response.completed', response: { ...begun, status: 'completed', output, usage } },
  ];
  const lineOf = (event: { type: string }, at: number) => JSON.stringify({ ...event, sequence_number: at });
  return events.map((event, at) => `event: ${event.type}\ndata: ${lineOf(event, at)}\n\n`).join('');
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
