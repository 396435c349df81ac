import { isObject, type JsonObject, objectsIn } from '../../values/json/json.ts';

/**
 * Removes what repeats the text of a reply, because it would repeat the text that was replaced: probabilities of tokens, native blocks of text,
 * cited spans of the reply, segments and words of a transcript, and `output_text` of a response. Returns true if there was any. For events and
 * whole replies of all formats.
 */
export function removeRepeats(reply: JsonObject): boolean {
  const isWithLogprobs = removeLogprobs(reply);
  const removed = [
    removeFromTranscript(reply),
    ...[reply, reply.response].map((response) => empty(response, 'output_text')),
    ...objectsIn(reply.choices).map(removeFromChoice),
    ...[reply.delta, reply.content_block, ...objectsIn(reply.content)].map(removeFromBlock),
  ];
  return isWithLogprobs || removed.includes(true);
}

/** Whole words may be cut by segments, so these cannot be replaced one by one. */
function removeFromTranscript(reply: JsonObject): boolean {
  if (typeof reply.text !== 'string') return false;
  let isRemoved = false;
  for (const name of ['segments', 'words']) {
    if (!Array.isArray(reply[name]) || reply[name].length === 0) continue;
    reply[name] = [];
    isRemoved = true;
  }
  return isRemoved;
}

function removeLogprobs(event: JsonObject): boolean {
  let isRemoved = false;
  const contents = [...contentOf(event), ...contentOf(event.item), ...contentOf(event.response)];
  for (const holder of [event, ...objectsIn(event.choices), event.part, ...contents]) {
    if (!isObject(holder) || holder.logprobs === undefined || holder.logprobs === null) continue;
    holder.logprobs = Array.isArray(holder.logprobs) ? [] : null;
    isRemoved = true;
  }
  return isRemoved;
}

/** Callers without strict compliance get native blocks, grounding of Gemini, and citations of Cohere. */
function removeFromChoice(choice: JsonObject): boolean {
  let isRemoved = false;
  const { groundingMetadata: metadata } = choice;
  const supports = isObject(metadata) ? objectsIn(metadata.groundingSupports) : [];
  for (const { segment } of supports) isRemoved = empty(segment, 'text') || isRemoved;
  for (const message of [choice.message, choice.delta]) {
    if (!isObject(message)) continue;
    for (const citation of valuesOf(message.citations)) isRemoved = empty(citation, 'text') || isRemoved;
    isRemoved = removeTextBlocks(message) || isRemoved;
  }
  return isRemoved;
}

/** A provider that receives the message back takes the text from its content. */
function removeTextBlocks(message: JsonObject): boolean {
  const { content_blocks: blocks } = message;
  if (!valuesOf(blocks).some(isOfText)) return false;
  const others = Object.entries(blocks as object).filter(([, block]) => !isOfText(block));
  if (others.length === 0) Reflect.deleteProperty(message, 'content_blocks');
  else message.content_blocks = Array.isArray(blocks) ? others.map(([, block]) => block) : Object.fromEntries(others);
  return true;
}

/** True for a block of text, or a piece of one. Only these have citations. */
function isOfText(block: unknown): boolean {
  const piece = isObject(block) && isObject(block.delta) ? block.delta : block;
  if (!isObject(piece)) return false;
  return piece.type === 'text' || (piece.type === undefined && (piece.text !== undefined || piece.citation !== undefined));
}

/** A citation that the gateway made cites the reply, because chat completions do not have the text of the page. */
function removeFromBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  let isRemoved = false;
  for (const citation of [block.citation, ...objectsIn(block.citations)]) {
    if (isObject(citation) && citation.encrypted_index === '') isRemoved = empty(citation, 'cited_text') || isRemoved;
  }
  return isRemoved;
}

function empty(holder: unknown, field: string): boolean {
  if (!isObject(holder) || typeof holder[field] !== 'string' || holder[field] === '') return false;
  holder[field] = '';
  return true;
}

/** Entries of a list. The list of a held stream is an object by index. */
function valuesOf(list: unknown): unknown[] {
  return typeof list === 'object' && list !== null ? Object.values(list) : [];
}

function contentOf(value: unknown): JsonObject[] {
  if (!isObject(value)) return [];
  const items = Array.isArray(value.output) ? objectsIn(value.output) : [value];
  return items.flatMap((item) => objectsIn(item.content));
}
