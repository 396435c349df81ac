import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Prefix of reasoning that this gateway sealed. A reasoning item of the Responses API has one field for content that only the
 * provider can read, `encrypted_content`. It carries the original thinking blocks, with signatures, of providers reached over
 * chat completions. The prefix distinguishes them from OpenAI's own content. The blocks are not secret, and a provider that signs
 * its reasoning checks the signatures itself.
 */
const mark = 'svc1.';

/**
 * Returns thinking blocks as an `encrypted_content`. Blocks without signature are left out, because the summary of the item has
 * their text.
 */
export function sealReasoning(blocks: readonly JsonObject[]): string {
  return mark + Buffer.from(JSON.stringify(blocks.filter(isSigned))).toString('base64url');
}

/** True for an `encrypted_content` that `sealReasoning` wrote. Providers with a Responses API of their own cannot read it. */
export function isSealedHere(encrypted: unknown): encrypted is string {
  return typeof encrypted === 'string' && encrypted.startsWith(mark);
}

/** Returns the blocks in an `encrypted_content`; null if it is another provider's, or damaged. */
export function openReasoning(encrypted: unknown): JsonObject[] | null {
  if (!isSealedHere(encrypted)) return null;
  try {
    const blocks: unknown = JSON.parse(Buffer.from(encrypted.slice(mark.length), 'base64url').toString('utf8'));
    return Array.isArray(blocks) && blocks.every((block) => isObject(block) && isSigned(block)) ? blocks : null;
  } catch {
    return null;
  }
}

function isSigned(block: JsonObject): boolean {
  if (block.type === 'redacted_thinking') return typeof block.data === 'string' && block.data !== '';
  return block.type === 'thinking' && typeof block.signature === 'string' && block.signature !== '';
}
