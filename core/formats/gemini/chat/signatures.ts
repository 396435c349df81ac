import { isObject, type JsonObject, textOrNull } from '../../../contract/values/json/json.ts';

/**
 * Reasoning signatures are opaque strings on parts of a Gemini reply. Gemini expects them back on the same parts
 * (`https://ai.google.dev/gemini-api/docs/thought-signatures`). Chat completions carry them in
 * `extra_content.google.thought_signature`, as Google's own OpenAI-compatible endpoint does. Thinking blocks, whose signature
 * field other providers use too, carry `gemini:<place>:<signature>`.
 */
const mark = 'gemini:';

/** Placeholder for a missing signature, for example on a call that another model made. Documented by Google. */
export const unsigned = 'skip_thought_signature_validator';

/** The part that a signature belongs to: reasoning, text, or the n-th call or image of the reply, counted from 0. */
export type SignedPart = 'thought' | 'text' | `call.${number}` | `image.${number}`;

export interface PartSignature {
  /** Null for a signature that an older version of the gateway handed out. */
  readonly part: SignedPart | null;
  readonly signature: string;
}

export function extraContent(signature: string): JsonObject {
  return { extra_content: { google: { thought_signature: signature } } };
}

/** Returns the signature on a message, tool call or image of a chat conversation. */
export function signatureIn(from: JsonObject): string | null {
  const google = isObject(from.extra_content) ? from.extra_content.google : null;
  const signature = isObject(google) ? google.thought_signature : null;
  return textOrNull(signature);
}

export function toBlockSignature(signature: string, part: SignedPart): string {
  return `${mark}${part}:${signature}`;
}

/** Null for a signature of another provider, because Gemini would reject it. */
export function fromBlockSignature(text: unknown): PartSignature | null {
  if (typeof text !== 'string' || !text.startsWith(mark)) return null;
  const [, part, signature] = /^gemini:(thought|text|call\.\d{1,4}|image\.\d{1,4}):(.*)$/s.exec(text) ?? [];
  if (signature === undefined) return { part: null, signature: text.slice(mark.length) };
  return { part: part as SignedPart, signature };
}
