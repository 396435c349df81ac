import { parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { EventFrames } from '../../contract/values/text/event-frames.ts';
import { dataOf } from '../../contract/values/text/event-text.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { within } from '../../contract/values/time/within.ts';
import { isAmbiguous } from '../../json-rpc/messages.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { noticesOf, type OwnClientParts, type OwnSession, sendReply } from './own-client.ts';
import { ownReply, replyWith } from './reply-to-question.ts';

/** Methods during which servers ask their clients. */
export const askingMethods: ReadonlySet<unknown> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Maximum time that a call waits for the stream, in milliseconds. Some servers send the head with the first event only. */
const openingMs = 300;
/** A server that ends a stream sooner gets no further one in the session. */
const shortMs = 10_000;
/** Maximum number of streams of one process. Further sessions have none. */
const streamsMax = 1_000;
/** Unused streams, and those of removed servers, are ended this often. */
const lookMs = 10_000;
/** Maximum time without a call, in milliseconds. */
const idleMs = 300_000;
/** Maximum length of an event beyond 64 KiB. A question that is refused needs no more. */
const eventGrowthMax = 1024 * 1024;
/** Maximum bytes of a stream. Nothing pauses it, so a server could occupy the process with it. */
const streamBytesMax = 8 * 1024 * 1024;

/** The stream of a session of the gateway, on which servers ask questions that belong to no request. */
export interface QuestionStream {
  /**
   * Opens the stream if it is not open. Resolves without it if the server has none, or does not open it in time. Null: there is nothing to
   * wait for.
   */
  open(): Promise<void> | null;
  end(): void;
}

/** Follows the stream of a session. `partsOf` returns the client with the newest credentials. */
export type QuestionStreams = (partsOf: () => OwnClientParts, session: OwnSession) => QuestionStream;

/**
 * Returns a function that follows the streams of sessions of this process. Questions on them get a reply of the gateway, so that the server does not wait,
 * and everything else is dropped. `isServed` returns false for a server that was removed.
 */
export function questionStreams(clock: Clock, isServed: (server: ServerSettings) => Promise<boolean>): QuestionStreams {
  let openCount = 0;
  return (partsOf, session) => {
    let state: 'closed' | 'opening' | 'open' | 'refused' = 'closed';
    let stream: ExchangeStream | null = null;
    let opening: Promise<void> | null = null;
    let usedAtMs = 0;
    const onQuestion = replyWith((reply) => sendReply(partsOf(), session, reply), ownReply);

    return {
      open() {
        usedAtMs = clock.elapsed();
        if (state === 'closed' && openCount < streamsMax) {
          state = 'opening';
          opening = within(begin(), openingMs, () => new Error('late')).catch(() => undefined);
        }
        return state === 'opening' ? opening : null;
      },
      end,
    };

    function end(): void {
      state = 'refused';
      stream?.abort();
    }

    async function begin(): Promise<void> {
      openCount++;
      const openedAtMs = clock.elapsed();
      const parts = partsOf();
      // The head may come with the first question, long after the call that opened the stream.
      const opened = noticesOf({ ...parts, timeouts: { ...parts.timeouts, firstByteMs: 0 } }, session);
      stream = opened;
      const timer = setInterval(() => void look(opened), lookMs).unref();
      // A process that stops waits for no stream.
      const removed = parts.streams?.add(end);
      const ended = (): void => {
        clearInterval(timer);
        opened.abort();
        removed?.();
        openCount--;
        if (state !== 'refused') state = clock.elapsed() - openedAtMs < shortMs ? 'refused' : 'closed';
      };
      const head = await opened.head.catch(() => null);
      if (head !== null && head.status !== 200) state = 'refused';
      if (head === null || state !== 'opening') return ended();
      state = 'open';
      void follow(opened).finally(ended);
    }

    /** Ends a stream that is not used, or whose server was removed. */
    async function look(opened: ExchangeStream): Promise<void> {
      const isIdle = clock.elapsed() - usedAtMs >= idleMs;
      if (isIdle || !(await isServed(partsOf().server).catch(() => true))) opened.abort();
    }

    async function follow({ body }: ExchangeStream): Promise<void> {
      let growth = 0;
      let bytes = 0;
      const frames = new EventFrames((more) => {
        growth += more;
        if (growth > eventGrowthMax) throw new Error('the event is too long');
      });
      try {
        for await (const chunk of body) {
          bytes += chunk.length;
          if (bytes > streamBytesMax) return;
          frames.push(chunk).forEach(read);
        }
      } catch {}
    }

    function read(frame: string): void {
      const data = dataOf(frame);
      const message = data === null || hasTooManyValues(data) ? null : parseObject(data);
      if (typeof message?.method === 'string' && !isAmbiguous(message)) onQuestion(message);
    }
  };
}
