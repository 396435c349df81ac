import { isObject, type JsonObject } from '../../../contract/json.ts';

/**
 * Thought signatures are opaque texts that Gemini puts on parts of a reply and wants back where they stood
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). In chat completions they travel where Google's own
 * OpenAI-compatible endpoint has them, `extra_content.google.thought_signature`; in thinking blocks, whose signature field
 * other providers use too, behind a mark that tells whose they are.
 */
const mark = 'gemini:';

/** What stands in for a signature that is not to be had, for example of a call another model made. Documented by Google. */
export const unsigned = 'skip_thought_signature_validator';

export function extraContent(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } };
}

/** The signature on a message, tool call or image of a chat conversation. */
export function signatureIn(from: JsonObject): string | null {
  const google = isObject(from.extra_content) ? from.extra_content.google : null;
  const signature = isObject(google) ? google.thought_signature : null;
  return typeof signature === 'string' && signature !== '' ? signature : null;
}

export function toBlockSignature(signature: string): string {
  return mark + signature;
}

/** Null for a signature of another provider: sent on, it would be refused. */
export function fromBlockSignature(signature: unknown): string | null {
  return typeof signature === 'string' && signature.startsWith(mark) ? signature.slice(mark.length) : null;
}
