import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { NoticeChannel } from '../../contract/protocol/notices/notice-channel.ts';
import { seal, unseal } from '../../contract/values/credentials/secret.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { noSessionDetail } from '../server/server-errors.ts';
import { createAssembly, partLengthOf, partsOf, readPart, writePart } from './parts.ts';
import { fromWire, toWire } from './wire-error.ts';

/** A process that serves a question reports this often that it is alive. */
const aliveMs = 2_000;
/** Time without any message after which the other process counts as gone. */
const silenceMs = 10_000;
/** Maximum length of a message in characters of JSON. */
const lengthMax = 8 * 1024 * 1024;

/** `to`: id of a process. `sealed`: a part of a message, sealed because it has credentials and content. */
export interface PeerNotice {
  readonly to: string;
  readonly sealed: string;
}

const notice = v.object({ to: v.string(), sealed: v.string() });

const message = v.object({
  /** Number of the question at the process that asks. */
  call: v.number(),
  kind: v.picklist(['ask', 'cancel', 'alive', 'event', 'done', 'failed']),
  /** The handler of a question. */
  topic: v.optional(v.string(), ''),
  value: v.optional(v.record(v.string(), v.unknown()), {}),
});
type Message = v.InferOutput<typeof message>;

export interface Question {
  /** Receives the messages that the other process sends before its reply. */
  onEvent(event: JsonObject): void;
  /** Called once with a function that cancels the question at the other process. */
  onCancel(cancel: () => void): void;
}

/** Serves a question of another process. `cancelled` aborts when no reply is expected any more. */
type ServePeer = (value: JsonObject, emit: (event: JsonObject) => void, cancelled: AbortSignal) => Promise<JsonObject>;

type PeerTopic = 'sse-session' | 'client-reply';

/** Questions between gateway processes. */
export interface Peers {
  /** Id of this process. */
  readonly self: string;
  readonly counts: {
    /** Events that were too long for another process. */
    readonly dropped: number;
  };
  /** Rejects with the GatewayError of the other process, or with one whose `detail` is `noSessionDetail` if that process is gone. */
  ask(to: string, topic: PeerTopic, value: JsonObject, question: Question): Promise<JsonObject>;
  /** Serves the questions of a topic. */
  serve(topic: PeerTopic, handler: ServePeer): void;
  close(): void;
}

interface Asked {
  readonly question: Question;
  timer: NodeJS.Timeout;
  resolve(value: JsonObject): void;
  reject(error: GatewayError): void;
}

/** Exchanges requests and replies with the other gateway processes. Messages are sealed with `key`, because NATS is not trusted. */
export function createPeers(channels: readonly NoticeChannel<PeerNotice>[], key: Uint8Array): Peers {
  const self = randomUUID();
  const asked = new Map<number, Asked>();
  const served = new Map<string, AbortController>();
  const handlers = new Map<string, ServePeer>();
  const assembly = createAssembly(lengthMax);
  let last = 0;
  let lastMessage = 0;
  const counts = { dropped: 0 };
  for (const channel of channels) channel.listen(receive);

  return {
    self,
    counts,
    ask(to, topic, value, question) {
      const call = ++last;
      const reply = new Promise<JsonObject>((resolve, reject) => {
        asked.set(call, { question, resolve, reject, timer: setTimeout(() => fail(call, gone()), silenceMs) });
      });
      question.onCancel(() => {
        if (fail(call, new GatewayError('client_closed'))) send(to, { call, kind: 'cancel' });
      });
      if (!send(to, { call, kind: 'ask', topic, value })) fail(call, tooLong());
      return reply;
    },
    serve(topic, handler) {
      handlers.set(topic, handler);
    },
    close() {
      for (const channel of channels) channel.close();
      for (const call of [...asked.keys()]) fail(call, gone());
    },
  };

  /** Returns false for a message that is too long. */
  function send(to: string, sent: Omit<Message, 'value' | 'topic'> & { topic?: PeerTopic; value?: JsonObject }): boolean {
    const text = JSON.stringify(sent);
    if (text.length > lengthMax) return false;
    const bytesMax = Math.min(...channels.map((channel) => channel.bytesMax?.() ?? Number.MAX_SAFE_INTEGER));
    for (const part of partsOf(self, ++lastMessage, text, partLengthOf(bytesMax))) {
      const sealed = seal(key, writePart(part), `mcp-peer/${to}`);
      for (const channel of channels) channel.send({ to, sealed });
    }
    return true;
  }

  function receive(arrived: unknown): void {
    const given = arrived instanceof Uint8Array ? parseObject(textOf(arrived)) : arrived;
    const parsed = v.safeParse(notice, given);
    if (!parsed.success || parsed.output.to !== self) return;
    const part = readPart(open(parsed.output.sealed));
    const whole = part === null ? null : assembly.add(part);
    if (part === null || whole === null) return;
    const read = v.safeParse(message, parseObject(whole));
    if (!read.success) return;
    const { from } = part;
    const { call, kind, topic, value } = read.output;
    if (kind === 'ask') return void serveQuestion(from, call, topic, value);
    if (kind === 'cancel') return served.get(`${from} ${call}`)?.abort();
    const one = asked.get(call);
    if (!one) return;
    one.timer.refresh();
    if (kind === 'event') one.question.onEvent(value);
    else if (kind === 'failed') fail(call, fromWire(value));
    else if (kind === 'done') take(call)?.resolve(value);
  }

  async function serveQuestion(from: string, call: number, topic: string, value: JsonObject): Promise<void> {
    const name = `${from} ${call}`;
    const handler = handlers.get(topic);
    if (handler === undefined) return;
    const cancelled = new AbortController();
    served.set(name, cancelled);
    send(from, { call, kind: 'alive' });
    const alive = setInterval(() => send(from, { call, kind: 'alive' }), aliveMs);
    try {
      const emit = (event: JsonObject): void => {
        if (!send(from, { call, kind: 'event', value: event })) counts.dropped++;
      };
      const reply = await handler(value, emit, cancelled.signal);
      if (!send(from, { call, kind: 'done', value: reply })) throw tooLong();
    } catch (thrown) {
      send(from, { call, kind: 'failed', value: toWire(toGatewayError(thrown)) });
    } finally {
      clearInterval(alive);
      served.delete(name);
    }
  }

  function take(call: number): Asked | undefined {
    const one = asked.get(call);
    if (one) clearTimeout(one.timer);
    asked.delete(call);
    return one;
  }

  function fail(call: number, error: GatewayError): boolean {
    const one = take(call);
    one?.reject(error);
    return one !== undefined;
  }

  function open(sealed: string): string {
    try {
      return textOf(unseal(key, sealed, `mcp-peer/${self}`));
    } catch {
      return '';
    }
  }
}

function gone(): GatewayError {
  return new GatewayError('upstream_reset', { message: 'The gateway process of the session has ended', detail: noSessionDetail });
}

function tooLong(): GatewayError {
  const message = `A message of a session at another gateway process may have at most ${lengthMax} characters`;
  return new GatewayError('upstream_invalid', { message });
}
