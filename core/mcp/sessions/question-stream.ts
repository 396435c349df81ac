import { parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { EventFrames } from '../../contract/values/text/event-frames.ts';
import { dataOf } from '../../contract/values/text/event-text.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { within } from '../../contract/values/time/within.ts';
import { isAmbiguous } from '../../json-rpc/messages.ts';
import type { ExchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
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
/** Unused streams are ended this often. */
const lookMs = 60_000;
/** Maximum length of an event beyond 64 KiB. A question that is refused needs no more. */
const eventGrowthMax = 1024 * 1024;

/** The stream of a session of the gateway, on which servers ask questions that belong to no request. */
export interface QuestionStream {
  /**
   * Opens the stream if it is not open. Resolves without it if the server has none, or does not open it in time. Null: there is nothing to
   * wait for.
   */
  open(): Promise<void> | null;
  end(): void;
}

/**
 * Returns a function that follows the stream of a session. Questions on it get a reply of the gateway, so that the server does not wait, and everything
 * else is dropped. `partsOf` returns the client with the newest credentials. A stream ends when it was not used for `idleMs`.
 */
export function questionStreams(
  clock: Clock,
  idleMs: number,
): (partsOf: () => OwnClientParts, session: OwnSession) => QuestionStream {
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
      const parts = partsOf();
      const opened = noticesOf(parts, session);
      stream = opened;
      // A process that stops waits for no stream.
      const removed = parts.streams?.add(end);
      const ended = (): void => {
        opened.abort();
        removed?.();
        openCount--;
      };
      const head = await opened.head.catch(() => null);
      if (head?.status !== 200) state = 'refused';
      if (state !== 'opening') return ended();
      state = 'open';
      void follow(opened).finally(ended);
    }

    async function follow({ body, abort }: ExchangeStream): Promise<void> {
      const openedAtMs = clock.elapsed();
      const timer = setInterval(() => clock.elapsed() - usedAtMs >= idleMs && abort(), lookMs).unref();
      let growth = 0;
      const frames = new EventFrames((more) => {
        growth += more;
        if (growth > eventGrowthMax) throw new Error('the event is too long');
      });
      try {
        for await (const chunk of body) frames.push(chunk).forEach(read);
      } catch {}
      clearInterval(timer);
      if (state === 'open') state = clock.elapsed() - openedAtMs < shortMs ? 'refused' : 'closed';
    }

    function read(frame: string): void {
      const data = dataOf(frame);
      const message = data === null || hasTooManyValues(data) ? null : parseObject(data);
      if (typeof message?.method === 'string' && !isAmbiguous(message)) onQuestion(message);
    }
  };
}
