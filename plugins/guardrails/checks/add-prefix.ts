import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { type Check, defineCheck } from './check.ts';

const parameters = v.strictObject({
  prefix: v.pipe(v.string(), v.minLength(1), v.maxLength(10_000)),
  applyToRole: v.optional(v.picklist(['user', 'system', 'assistant']), 'user'),
  addToExisting: v.optional(v.boolean(), true),
  onlyIfEmpty: v.optional(v.boolean(), false),
});
type Parameters = v.InferOutput<typeof parameters>;

/**
 * `default.addPrefix`: puts text before the first message of a role. If there is none, or `addToExisting` is false, a message is added:
 * of the assistant at the end, of others at the beginning.
 */
export const addPrefix: Check = defineCheck({
  id: 'default.addPrefix',
  sides: ['input'],
  changes: true,
  parameters,
  prepare: (given) => {
    const { prefix, applyToRole, addToExisting, onlyIfEmpty } = given;
    return ({ body, requestType }) => {
      const changed = prefixed(body, given);
      const data = { prefix, requestType, applyToRole, addToExisting, onlyIfEmpty };
      return changed === null ? { verdict: true, data } : { verdict: true, data, body: changed };
    };
  },
});

/** Null if nothing is to be changed. */
function prefixed(body: JsonObject, given: Parameters): JsonObject | null {
  const key = Array.isArray(body.messages) ? 'messages' : Array.isArray(body.input) ? 'input' : null;
  if (key !== null) {
    const messages = prefixMessages(body[key] as unknown[], given);
    return messages && { ...body, [key]: messages };
  }
  const text = typeof body.prompt === 'string' ? 'prompt' : typeof body.input === 'string' ? 'input' : null;
  if (text === null || given.applyToRole !== 'user' || (given.onlyIfEmpty && body[text] !== '')) return null;
  return { ...body, [text]: `${given.prefix}${body[text]}` };
}

function prefixMessages(messages: readonly unknown[], given: Parameters): unknown[] | null {
  const { prefix, applyToRole: role, addToExisting, onlyIfEmpty } = given;
  const at = messages.findIndex((message) => isObject(message) && message.role === role);
  if (at < 0 || !addToExisting) {
    const added = { role, content: prefix };
    return role === 'assistant' ? [...messages, added] : [added, ...messages];
  }
  const message = messages[at] as JsonObject;
  if (onlyIfEmpty && message.content !== '' && message.content !== null && message.content !== undefined) return null;
  return messages.with(at, { ...message, content: prefixContent(message.content, prefix) });
}

function prefixContent(content: unknown, prefix: string): unknown {
  if (!Array.isArray(content)) return `${prefix}${typeof content === 'string' ? content : ''}`;
  const at = content.findIndex((part) => isObject(part) && typeof part.text === 'string');
  if (at < 0) return [{ type: 'text', text: prefix }, ...content];
  const part = content[at] as JsonObject;
  return content.with(at, { ...part, text: `${prefix}${part.text}` });
}
