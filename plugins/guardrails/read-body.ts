import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { AttemptResponse } from '../../core/contract/plugin/plugin.ts';
import { removeRepeats } from '../../core/contract/plugin/text/repeated-texts.ts';
import { findHeader } from '../../core/contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import { isEventStream } from '../../core/contract/values/text/event-text.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { HeldStream } from './held-stream.ts';
import { readPassedReply } from './passed-reply.ts';
import { isPassed } from './texts.ts';

/** A whole response as the checks read it. */
export interface ReadBody {
  /** Null: it cannot be read. */
  readonly body: JsonObject | null;
  /** The bytes to send for a changed body; null if the change cannot be written. */
  write(changed: JsonObject): string | null;
}

/** Reads a whole response: JSON, a stream, or plain text such as that of a transcription. */
export function readBody(ctx: RequestContext, { body: bytes, headers, json }: AttemptResponse): Maybe<ReadBody> {
  if (isPassed(ctx)) {
    return after(readPassedReply(headers, bytes ?? new Uint8Array()), (body) => ({ body, write: () => null }));
  }
  if (json !== null) return { body: json, write: textOfChanged };
  const text = bytes === null ? '' : textOf(bytes);
  const format = ctx.endpoint?.format ?? 'plain';
  if (format !== 'plain' && isEventStream(findHeader([...headers], 'content-type'))) {
    const stream = new HeldStream(format, text);
    return { body: stream.body, write: (changed) => stream.withBody(changed) };
  }
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return { body, write: textOfChanged };
  } catch {
    // The body is not JSON.
  }
  return { body: { text }, write: (changed) => String(changed.text) };
}

function textOfChanged(changed: JsonObject): string {
  removeRepeats(changed);
  return JSON.stringify(changed);
}
