import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import type { NoticeChannel } from '../../contract/protocol/notice-channel.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { seal, unseal } from '../../contract/values/secret.ts';
import { noSessionDetail } from '../server-errors.ts';
import { fromWire, toWire } from './wire-error.ts';

/** A process that serves a question reports this often that it is alive. */
const aliveMs = 2_000;
/** Time without any message after which the other process counts as gone. */
const silenceMs = 10_000;
/** Maximum length of a message in characters of JSON. */
const lengthMax = 8 * 1024 * 1024;

/** A message that arrives again by another channel is ignored, if the first one arrived less than this time and number of messages ago. */
const seenMs = 60_000;
const seenMax = 10_000;

/** `to`: id of a process. `sealed`: JSON of `message`, because it has credentials and content. */
export interface PeerNotice {
  readonly to: string;
  readonly sealed: string;
}

const notice = v.object({ to: v.string(), sealed: v.string() });

const message = v.object({
  from: v.string(),
  /** Number of the message at the process that sends it. */
  id: v.number(),
  /** Number of the question at the process that asks. */
  call: v.number(),
  kind: v.picklist(['ask', 'cancel', 'alive', 'event', 'done', 'failed']),
  value: v.optional(v.record(v.string(), v.unknown()), {}),
});
type Message = v.InferOutput<typeof message>;

export interface Question {
  /** Receives what the other process sends before its reply. */
  onEvent(event: JsonObject): void;
  /** Called once with a function that cancels the question at the other process. */
  onCancel(cancel: () => void): void;
}

/** Serves a question of another process. `cancelled` aborts when no reply is expected any more. */
type ServePeer = (value: JsonObject, emit: (event: JsonObject) => void, cancelled: AbortSignal) => Promise<JsonObject>;

/** Questions between gateway processes. */
export interface Peers {
  /** Id of this process. */
  readonly self: string;
  /** Rejects with the GatewayError of the other process, or with one whose `detail` is `noSessionDetail` if that process is gone. */
  ask(to: string, value: JsonObject, question: Question): Promise<JsonObject>;
  serve(handler: ServePeer): void;
  close(): void;
}

interface Asked {
  readonly question: Question;
  timer: NodeJS.Timeout;
  resolve(value: JsonObject): void;
  reject(error: GatewayError): void;
}

export function createPeers(channels: readonly NoticeChannel<PeerNotice>[], key: Uint8Array): Peers {
  const self = randomUUID();
  const asked = new Map<number, Asked>();
  const served = new Map<string, AbortController>();
  const seen = new LRUCache<string, true>({ max: seenMax, ttl: seenMs });
  let last = 0;
  let sentMessages = 0;
  let handler: ServePeer | null = null;
  for (const channel of channels) channel.listen(receive);

  return {
    self,
    ask(to, value, question) {
      const call = ++last;
      const reply = new Promise<JsonObject>((resolve, reject) => {
        asked.set(call, { question, resolve, reject, timer: setTimeout(() => fail(call, gone()), silenceMs) });
      });
      question.onCancel(() => {
        if (fail(call, new GatewayError('client_closed'))) send(to, { call, kind: 'cancel' });
      });
      if (!send(to, { call, kind: 'ask', value })) fail(call, tooLong());
      return reply;
    },
    serve(given) {
      handler = given;
    },
    close() {
      for (const channel of channels) channel.close();
      for (const call of [...asked.keys()]) fail(call, gone());
    },
  };

  /** Returns false for a message that is too long. */
  function send(to: string, sent: Omit<Message, 'from' | 'id' | 'value'> & { value?: JsonObject }): boolean {
    const text = JSON.stringify({ from: self, id: ++sentMessages, ...sent });
    if (text.length > lengthMax) return false;
    const sealed = seal(key, text, `mcp-peer/${to}`);
    for (const channel of channels) channel.send({ to, sealed });
    return true;
  }

  function receive(arrived: unknown): void {
    const parsed = v.safeParse(notice, arrived instanceof Uint8Array ? parse(Buffer.from(arrived).toString('utf8')) : arrived);
    if (!parsed.success || parsed.output.to !== self) return;
    const read = v.safeParse(message, parse(open(parsed.output.sealed)));
    if (!read.success) return;
    const { from, id, call, kind, value } = read.output;
    // Channels of one machine and between machines can both deliver a message.
    const name = `${from} ${id}`;
    if (seen.has(name)) return;
    seen.set(name, true);
    if (kind === 'ask') return void answer(from, call, value);
    if (kind === 'cancel') return served.get(`${from} ${call}`)?.abort();
    const one = asked.get(call);
    if (!one) return;
    one.timer.refresh();
    if (kind === 'event') one.question.onEvent(value);
    else if (kind === 'failed') fail(call, fromWire(value));
    else if (kind === 'done') take(call)?.resolve(value);
  }

  async function answer(from: string, call: number, value: JsonObject): Promise<void> {
    const name = `${from} ${call}`;
    if (handler === null) return;
    const cancelled = new AbortController();
    served.set(name, cancelled);
    send(from, { call, kind: 'alive' });
    const alive = setInterval(() => send(from, { call, kind: 'alive' }), aliveMs);
    try {
      const emit = (event: JsonObject): void => void send(from, { call, kind: 'event', value: event });
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
      return unseal(key, sealed, `mcp-peer/${self}`).toString('utf8');
    } catch {
      return '';
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function gone(): GatewayError {
  return new GatewayError('upstream_reset', { message: 'The gateway process of the session has ended', detail: noSessionDetail });
}

function tooLong(): GatewayError {
  const message = `A message of a session at another gateway process may have ${lengthMax} characters`;
  return new GatewayError('upstream_invalid', { message });
}
