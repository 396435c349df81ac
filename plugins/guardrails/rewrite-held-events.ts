import { isObject, type JsonObject, listOf, objectsIn } from '../../core/contract/values/json/json.ts';
import { contentOf, indexOf, repeated, stringOf } from './held-body.ts';
import type { StreamFormat } from './window/event-texts.ts';

/** Returns the new text for a piece of the text with this key. */
export type NextText = (key: string, piece: string) => string;

/** The texts of a body by the key under which their deltas come. */
export function textsOf(format: StreamFormat, body: JsonObject): Map<string, string> {
  const texts = new Map<string, string>();
  const content = [...objectsIn(body[contentOf[format]]).entries()];
  if (format === 'chat') {
    // The first choice of an index counts. Texts that are in events alone follow without an index.
    for (const [, { text, message, ...choice }] of content.toReversed()) {
      if (isObject(message)) addTexts(texts, `${indexOf(choice)}`, message);
      else texts.set(`${indexOf(choice)} text`, stringOf(text));
    }
  } else if (format === 'messages') {
    for (const [at, block] of content) {
      for (const [name, value] of Object.entries(block)) if (typeof value === 'string') texts.set(`${at} ${name}`, value);
    }
  } else {
    for (const [at, item] of content) {
      for (const field of ['content', 'summary']) {
        for (const [index, part] of objectsIn(item[field]).entries())
          texts.set(`${field} ${at}.${index}`, stringOf(part.text ?? part.refusal));
      }
      for (const field of ['arguments', 'input', 'code']) texts.set(`${field} ${at}`, stringOf(item[field]));
    }
  }
  return texts;
}

/** Adds the texts of a message of chat, at any depth. */
function addTexts(texts: Map<string, string>, path: string, value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'string') texts.set(`${path} ${name}`, inner);
    else if (typeof inner === 'object' && inner !== null) addTexts(texts, `${path} ${name}`, inner);
  }
}

type Rewrite = (json: JsonObject) => JsonObject;

/** Rewrite the texts in the events of a stream. `content` is that of the changed body. */
export const rewriters: Readonly<Record<StreamFormat, (content: readonly JsonObject[], next: NextText) => Rewrite>> = {
  chat(content, next) {
    // The first choice of an index counts.
    const messages = new Map(content.toReversed().map((changed) => [indexOf(changed), changed.message]));
    return (json) => {
      if (!Array.isArray(json.choices)) return json;
      const choices = objectsIn(json.choices).map((choice) => {
        const key = `${indexOf(choice)}`;
        if (isObject(choice.delta)) {
          const delta = withInputs(rewriteDelta(choice.delta, key, next), messages.get(indexOf(choice)));
          return { ...choice, ...(repeatsDelta(choice, choice.delta) ? { text: delta.content } : {}), delta };
        }
        return typeof choice.text === 'string' ? { ...choice, text: next(`${key} text`, choice.text) } : choice;
      });
      return { ...json, choices };
    };
  },
  messages(content, next) {
    const cited = new Map<number, number>();
    return (json) => {
      const { delta, content_block: start } = json;
      const at = indexOf(json);
      const citations = listOf(content[at]?.citations);
      if (json.type === 'content_block_start' && isObject(start)) {
        const first = listOf(start.citations).length;
        cited.set(at, first);
        const block = { ...content[at], citations: citations.slice(0, first) };
        return { ...json, content_block: rewriteStart(start, block, `${at}`, next) };
      }
      if (json.type !== 'content_block_delta' || !isObject(delta)) return json;
      const { signature: _signature, citation, ...texts } = delta;
      const rewritten = { ...delta, ...rewriteTexts(texts, `${at}`, next) };
      if (citation === undefined) return { ...json, delta: rewritten };
      const number = cited.get(at) ?? 0;
      cited.set(at, number + 1);
      return { ...json, delta: { ...rewritten, citation: citations[number] ?? citation } };
    };
  },
  responses(items, next) {
    const parts = items.map(({ content, summary }) => ({ content: objectsIn(content), summary: objectsIn(summary) }));
    return (json) => {
      const type = stringOf(json.type);
      const at = indexOf(json, 'output_index');
      const field = type.includes('summary') ? 'summary' : 'content';
      const index = indexOf(json, `${field}_index`);
      const item = items[at];
      const part = parts[at]?.[field][index];
      const [, kind, phase] =
        /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\.(delta|done)$/.exec(type) ?? [];
      if (phase === 'delta') return { ...json, delta: next(`${field} ${at}.${index}`, stringOf(json.delta)) };
      if (phase === 'done')
        return kind === 'refusal' ? { ...json, refusal: part?.refusal ?? '' } : { ...json, text: part?.text ?? '' };
      const [, member = '', step] = /_(arguments|input|code)\.(delta|done)$/.exec(type) ?? [];
      if (step === 'delta') return { ...json, delta: next(`${member} ${at}`, stringOf(json.delta)) };
      if (step === 'done') return { ...json, [member]: item?.[member] ?? '' };
      switch (type) {
        case 'response.output_item.added':
          return isObject(json.item) && item?.name !== undefined ? { ...json, item: { ...json.item, name: item.name } } : json;
        case 'response.content_part.done':
        case 'response.reasoning_summary_part.done':
          return { ...json, part: part ?? null };
        case 'response.output_item.done':
          return { ...json, item: item ?? null };
        default:
          return isObject(json.response) && objectsIn(json.response.output).length > 0
            ? { ...json, response: { ...json.response, output: items } }
            : json;
      }
    };
  },
};

/** True for a chunk of Together AI, which has the text of the delta twice. */
function repeatsDelta({ text }: JsonObject, { content }: JsonObject): boolean {
  return typeof text === 'string' && text === content;
}

/** The role is no text, and parts of the content continue one text. */
function rewriteDelta(delta: JsonObject, key: string, next: NextText): JsonObject {
  const { role: _role, content, ...others } = delta;
  const changed: JsonObject = { ...delta, ...(rewriteMembers(others, key, next) as JsonObject) };
  if (typeof content === 'string') changed.content = next(`${key} content`, content);
  else if (Array.isArray(content)) {
    changed.content = content.map((part) =>
      isObject(part) && typeof part.text === 'string' ? { ...part, text: next(`${key} content`, part.text) } : part,
    );
  }
  return changed;
}

/** Returns a delta whose blocks have the inputs of the changed message, because names in them may have changed too. */
function withInputs(delta: JsonObject, message: unknown): JsonObject {
  const changed = isObject(message) && isObject(message.content_blocks) ? message.content_blocks : null;
  if (changed === null || !Array.isArray(delta.content_blocks)) return delta;
  const blocks = objectsIn(delta.content_blocks).map((piece) => {
    const block = typeof piece.index === 'number' ? changed[piece.index] : undefined;
    if (!isObject(piece.delta) || !isObject(piece.delta.input) || !isObject(block) || !isObject(block.delta)) return piece;
    return { ...piece, delta: { ...piece.delta, input: block.delta.input } };
  });
  return { ...delta, content_blocks: blocks };
}

/** Rewrites the texts of a piece of a delta where `join` adds them. */
function rewriteMembers(piece: object, path: string, next: NextText): unknown {
  const members = Object.entries(piece).map(([name, value]): [string, unknown] => {
    const at = Array.isArray(piece) && isObject(value) && typeof value.index === 'number' ? `${value.index}` : name;
    if (typeof value === 'string') return [name, repeated.has(name) ? value : next(`${path} ${name}`, value)];
    if (typeof value !== 'object' || value === null) return [name, value];
    return [name, rewriteMembers(value, `${path} ${at}`, next)];
  });
  return Array.isArray(piece) ? members.map(([, value]) => value) : Object.fromEntries(members);
}

/** The start of a block of Messages: the beginning of its texts, and whole values such as the results of a search. */
function rewriteStart(start: JsonObject, block: JsonObject, key: string, next: NextText): JsonObject {
  const rewritten = { ...start, ...rewriteTexts(start, key, next) };
  for (const [name, value] of Object.entries(start)) {
    if (typeof value === 'object' && value !== null && block[name] !== undefined) rewritten[name] = block[name];
  }
  return rewritten;
}

/** Returns the texts among these members, rewritten. */
function rewriteTexts(members: JsonObject, key: string, next: NextText): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      typeof value === 'string' && !repeated.has(name) ? [[name, next(`${key} ${name}`, value)]] : [],
    ),
  );
}
