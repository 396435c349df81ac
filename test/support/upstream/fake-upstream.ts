import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { within } from '../until.ts';
import { replyLikeAProvider } from './provider-replies.ts';
import { RecordedRequest } from './recorded-request.ts';

export * from './upstream-behaviours.ts';

/** The request and response that a behaviour works with. */
export interface Exchange {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly message: IncomingMessage;
}

/**
 * The reply to a request. `when` determines if it runs when the head has arrived (it then reads the body itself, or never) or
 * when the whole body has arrived. A plain function runs after the body.
 */
export interface Behaviour {
  readonly when: 'head' | 'body';
  run(exchange: Exchange): void | Promise<void>;
}
export type BehaviourLike = Behaviour | Behaviour['run'];

/** An exact path (without query), or a predicate on the head of the request (its body has not arrived yet). */
type Matcher = string | ((request: RecordedRequest) => boolean);

export interface FakeUpstreamOptions {
  /** Larger bodies are only counted and hashed. Default 16 MiB. */
  readonly keepBodyBytesMax?: number;
  readonly host?: string;
  readonly port?: number;
}

export interface FakeUpstream {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:<port>`. For custom hosts of OpenAI-like providers use `openaiHost`. */
  readonly origin: string;
  /** `<origin>/v1` */
  readonly openaiHost: string;
  /** Every request whose head has arrived, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** The newest request. Throws if there is none. */
  readonly last: RecordedRequest;
  /** Open client connections. */
  readonly connections: number;
  /** Client connections accepted so far. */
  readonly connectionsAccepted: number;
  /** Sets the reply to matching requests, for `times` of them or all. Later rules take precedence. A used-up rule is removed. */
  on(match: Matcher, behaviour: BehaviourLike, times?: number): void;
  /** `on` for the next matching request only. */
  once(match: Matcher, behaviour: BehaviourLike): void;
  /** Sets the reply to all requests until `reset()`. */
  always(behaviour: BehaviourLike): void;
  /** Returns the oldest request that was not taken yet, when its body is complete. Fails after 10 s, or `deadlineMs`. */
  nextRequest(deadlineMs?: number): Promise<RecordedRequest>;
  /** Returns the oldest request that was not taken yet, when its head has arrived. */
  nextHead(deadlineMs?: number): Promise<RecordedRequest>;
  /** Removes rules and requests. Connections stay open. */
  reset(): void;
  /** Cuts every connection, idle or not. */
  cutConnections(): void;
  /** Stops listening and cuts open connections. Safe to call twice. */
  close(): Promise<void>;
}

interface Rule {
  readonly matches: (request: RecordedRequest) => boolean;
  readonly behaviour: Behaviour;
  timesLeft: number;
}

/**
 * A provider on a real port. Records every request exactly and replies by script. Without a rule it replies like OpenAI
 * (`/chat/completions`, `/completions`, `/embeddings`, `/responses`, `/models`, audio, images, moderations) and Anthropic
 * (`/messages`), plain or streamed as requested, with a tool call if tools are offered and there is no tool result yet. `/echo…`
 * returns the body's bytes. Any other path is 404.
 */
export async function startFakeUpstream(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  const host = options.host ?? '127.0.0.1';
  const keepBodyBytesMax = options.keepBodyBytesMax ?? 16 * 1024 * 1024;
  const requests: RecordedRequest[] = [];
  const heads = newQueue();
  const bodies = newQueue();
  const sockets = new Set<Socket>();
  let rules: Rule[] = [];
  let connectionsAccepted = 0;

  const server = createServer({ maxHeaderSize: 1024 * 1024, keepAliveTimeout: 0, requestTimeout: 0 }, (message, response) => {
    const request = new RecordedRequest(message, keepBodyBytesMax);
    requests.push(request);
    response.on('error', () => undefined);
    message.on('error', () => undefined);
    response.on('close', () => request.close(response.writableFinished ? 'replied' : 'client-left'));
    message.on('end', () => {
      request.finish();
      bodies.put(request);
    });
    const rule = rules.findLast((candidate) => candidate.timesLeft > 0 && candidate.matches(request));
    if (rule) rule.timesLeft--;
    const behaviour = rule?.behaviour ?? replyLikeAProvider;
    const exchange: Exchange = { request, response, socket: message.socket, message };
    heads.put(request);
    if (behaviour.when === 'head') {
      void run(behaviour, exchange);
      return;
    }
    message.on('data', (chunk: Buffer) => request.take(chunk));
    message.on('end', () => void run(behaviour, exchange));
  });
  server.headersTimeout = 0;
  server.timeout = 0;
  server.on('connection', (socket: Socket) => {
    connectionsAccepted++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const port = (server.address() as AddressInfo).port;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

  const upstream: FakeUpstream = {
    host,
    port,
    origin,
    openaiHost: `${origin}/v1`,
    requests,
    get last() {
      const request = requests.at(-1);
      if (!request) throw new Error('the fake upstream has seen no request');
      return request;
    },
    get connections() {
      return sockets.size;
    },
    get connectionsAccepted() {
      return connectionsAccepted;
    },
    on(match, behaviour, times = Number.POSITIVE_INFINITY) {
      rules.push({ matches: toQuestion(match), behaviour: toBehaviour(behaviour), timesLeft: times });
    },
    once(match, behaviour) {
      upstream.on(match, behaviour, 1);
    },
    always(behaviour) {
      upstream.on(() => true, behaviour);
    },
    nextRequest: (deadlineMs) => within(bodies.next(), 'a whole request at the fake upstream', deadlineMs),
    nextHead: (deadlineMs) => within(heads.next(), 'the head of a request at the fake upstream', deadlineMs),
    reset() {
      rules = [];
      requests.length = 0;
      heads.clear();
      bodies.clear();
    },
    cutConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      upstream.cutConnections();
      await closed;
    },
  };
  return upstream;
}

async function run(behaviour: Behaviour, exchange: Exchange): Promise<void> {
  try {
    await behaviour.run(exchange);
  } catch (error) {
    // The error of a script must appear in its test, not as a hanging request.
    const text = `fake upstream: ${error instanceof Error ? error.stack : String(error)}`;
    if (exchange.response.headersSent) exchange.socket.destroy();
    else exchange.response.writeHead(599, { 'content-type': 'text/plain' }).end(text);
  }
}

function toQuestion(match: Matcher): (request: RecordedRequest) => boolean {
  return typeof match === 'string' ? (request) => request.path === match : match;
}

function toBehaviour(behaviour: BehaviourLike): Behaviour {
  return typeof behaviour === 'function' ? { when: 'body', run: behaviour } : behaviour;
}

/** Matches requests with waiting takers. Each request is taken once. */
function newQueue(): { put(request: RecordedRequest): void; next(): Promise<RecordedRequest>; clear(): void } {
  const waiting: RecordedRequest[] = [];
  const takers: ((request: RecordedRequest) => void)[] = [];
  return {
    put(request) {
      const taker = takers.shift();
      if (taker) taker(request);
      else waiting.push(request);
    },
    next() {
      const request = waiting.shift();
      return request ? Promise.resolve(request) : new Promise((resolve) => takers.push(resolve));
    },
    clear() {
      waiting.length = 0;
      takers.length = 0;
    },
  };
}
