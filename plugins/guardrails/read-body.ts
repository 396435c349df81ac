import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { AttemptResponse } from '../../core/contract/plugin/plugin.ts';
import { removeRepeats } from '../../core/contract/plugin/text/repeated-texts.ts';
import { findHeader } from '../../core/contract/values/http/http.ts';
import { duplicateKeySteps, hasDuplicateKeys, scannedAtOnce } from '../../core/contract/values/json/duplicate-keys.ts';
import { type JsonObject, parseObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import { isEventStream } from '../../core/contract/values/text/event-text.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { HeldStream } from './held-stream.ts';
import { readPassedReply } from './passed-reply.ts';
import { PlainStream } from './plain-stream.ts';
import { isPassed, repliesWithMessages } from './texts.ts';

/** A whole response as the checks read it. */
export interface ReadBody {
  /** Null: it cannot be read. */
  readonly body: JsonObject | null;
  /** True if an object of it has a name twice: only the values in `body` may be sent. */
  readonly isAmbiguous?: boolean;
  /** The bytes to send for a changed body; null if the change cannot be written. */
  write(changed: JsonObject): string | null;
}

/** Reads a whole response: JSON, a stream, or plain text such as that of a transcription. */
export function readBody(ctx: RequestContext, { body: bytes, headers, json }: AttemptResponse): Maybe<ReadBody> {
  if (isPassed(ctx)) {
    return after(readPassedReply(headers, bytes ?? new Uint8Array()), (body) => ({ body, write: () => null }));
  }
  const text = bytes === null ? '' : textOf(bytes);
  const format = ctx.endpoint?.format ?? 'plain';
  if (json === null && isEventStream(findHeader([...headers], 'content-type'))) {
    const isPlain = format === 'plain' || !repliesWithMessages(ctx.endpoint?.operation ?? null);
    const stream = isPlain ? new PlainStream(text) : new HeldStream(format, text);
    return { body: stream.body, write: (changed) => stream.withBody(changed) };
  }
  const body = json ?? parseObject(text);
  if (body === null) return { body: { text }, write: (changed) => String(changed.text) };
  if (text.length <= scannedAtOnce) return { body, write: textOfChanged, isAmbiguous: hasDuplicateKeys(text, body) };
  return ctx.inTurns(duplicateKeySteps(text, body)).then((isAmbiguous) => ({ body, write: textOfChanged, isAmbiguous }));
}

function textOfChanged(changed: JsonObject): string {
  removeRepeats(changed);
  return JSON.stringify(changed);
}
