import type { JsonObject } from '../json/json.ts';

/**
 * Returns the text of a part `encrypted_content` of a message between agents of Codex; null for other parts, and if OpenAI has encrypted
 * it, as a Fernet token. Models of other providers write this text unencrypted.
 */
export function readableContent({ type, encrypted_content: text }: JsonObject): string | null {
  return type === 'encrypted_content' && typeof text === 'string' && !/^gAAAA[\w-]+=*$/.test(text) ? text : null;
}
