import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn, textOrNull } from '../../contract/values/json/json.ts';
import { refusalOf } from './chat/chat-reply.ts';
import { geminiStreamReader } from './usage.ts';

/**
 * Returns the error for a reply without the requested content: the prompt was blocked, the result was withheld, or the model
 * replied in text. The status is 400, as for other content refusals, so that the target is not retried.
 */
export function noContent(provider: string, reply: JsonObject, wanted: string): GatewayError {
  const [candidate] = objectsIn(reply.candidates);
  const why =
    refusalOf(reply.promptFeedback) ??
    textOrNull(candidate?.finishMessage) ??
    heldBack(candidate?.finishReason) ??
    textInstead(candidate) ??
    'no reason given';
  return new GatewayError('upstream_status', {
    status: 400,
    message: `${provider} error: the reply holds no ${wanted}: ${why.slice(0, 500)}`,
  });
}

/** Returns the parts of every candidate of a generateContent reply or event. */
export function partsOf(reply: JsonObject): JsonObject[] {
  const candidates = objectsIn(reply.candidates);
  return candidates.flatMap(({ content }) => (isObject(content) ? objectsIn(content.parts) : []));
}

/** Returns the inline data of this kind (`image/`, `audio/`) in the parts, except in reasoning. */
export function inlineDataOf(reply: JsonObject, kind: string): { readonly mimeType: string; readonly data: string }[] {
  return partsOf(reply).flatMap(({ inlineData, thought: reasoningPart }) => {
    if (reasoningPart === true || !isObject(inlineData) || typeof inlineData.data !== 'string') return [];
    const mimeType = String(inlineData.mimeType ?? '');
    return mimeType.startsWith(kind) ? [{ mimeType, data: inlineData.data }] : [];
  });
}

/** Follows a stream that must contain data of this kind. A complete stream without any is a refusal. */
export function mediaStreamReader(provider: string, kind: string, wanted: string): StreamReader {
  const reader = geminiStreamReader(provider);
  let seen = false;
  let last: JsonObject = {};
  return {
    push(event) {
      reader.push(event);
      if (!isObject(event.data)) return;
      last = event.data;
      seen ||= inlineDataOf(event.data, kind).length > 0;
    },
    usage: reader.usage,
    complete: reader.complete,
    error: () => reader.error?.() ?? (reader.complete() && !seen ? noContent(provider, last, wanted) : null),
  };
}

function heldBack(reason: unknown): string | null {
  return typeof reason === 'string' && reason !== 'STOP' ? reason : null;
}

function textInstead(candidate: JsonObject | undefined): string | null {
  const texts = partsOf({ candidates: [candidate] }).map(({ text }) => textOrNull(text) ?? '');
  return textOrNull(texts.join(''));
}
