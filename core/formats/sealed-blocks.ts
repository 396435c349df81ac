import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/**
 * Blocks without a form in Messages and Responses (code that Gemini ran, a search by Claude) are sent in `redacted_thinking`
 * blocks, which clients of both formats return unread: `native:` and the block as base64url JSON. The provider that produced the
 * block receives it again. Every other provider leaves it out.
 */
const mark = 'native:';

/** Hides a block of another provider in one of redacted thinking, which clients return unchanged. It is encoded, not encrypted. */
export function sealBlock(block: JsonObject): JsonObject {
  return { type: 'redacted_thinking', data: mark + Buffer.from(JSON.stringify(block)).toString('base64url') };
}

/** Returns the block inside a sealed one. Returns the given object if it is not sealed, or if it is damaged. */
export function openBlock(block: JsonObject): JsonObject {
  const { type, data } = block;
  if (type !== 'redacted_thinking' || typeof data !== 'string' || !data.startsWith(mark)) return block;
  try {
    const inner: unknown = JSON.parse(Buffer.from(data.slice(mark.length), 'base64url').toString('utf8'));
    return isObject(inner) ? inner : block;
  } catch {
    return block;
  }
}

/** Returns the field that identifies an untyped part: `executableCode` of `{"executableCode": {…}}`. */
export function contentOf(part: JsonObject): string {
  return Object.keys(part).find((key) => !['thoughtSignature', 'thought', 'type'].includes(key)) ?? 'part';
}

/** `executable_code` for a part that holds `executableCode`: the type of its block. */
export function kindOf(part: JsonObject): string {
  return contentOf(part).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Types of blocks that repeat fields of a chat message. */
const sharedTypes: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

/** True for a block that repeats a field of a chat message. */
export function isSharedBlock(block: JsonObject): boolean {
  return sharedTypes.has(block.type);
}

/**
 * True for a block that is an untyped part of a provider, with the result of `kindOf` as its type. Without the type it can be
 * sent back.
 */
export function isNativePart(block: JsonObject): boolean {
  return !isSharedBlock(block) && block.type === kindOf(block);
}
