import { isObject, type JsonObject } from '../contract/values/json.ts';

/**
 * Blocks of a provider that Messages and Responses have no form for (code that Gemini ran, a search of Claude's) travel in
 * `redacted_thinking` blocks, which clients of both formats send back unread: `native:` and the block as base64url JSON. The provider
 * it came from opens it; every other provider leaves it out.
 */
const mark = 'native:';

export function sealBlock(block: JsonObject): JsonObject {
  return { type: 'redacted_thinking', data: mark + Buffer.from(JSON.stringify(block)).toString('base64url') };
}

/** The block inside a sealed one; the very same object if it is not sealed, or damaged. */
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

/** True for a block that is an untyped part of a provider with `kindOf` as its type: without the type it can be sent back. */
export function isNativePart(block: JsonObject): boolean {
  return !isSharedBlock(block) && block.type === kindOf(block);
}
