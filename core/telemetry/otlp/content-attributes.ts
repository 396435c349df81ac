import type { RecordContent } from '../../contract/protocol/record-contents.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { cutText } from '../../contract/values/text/cut-text.ts';
import { attributesOf, type KeyValue } from './attributes.ts';
import { genAi } from './gen-ai.ts';
import { finishReason, inputMessages, type Message, outputMessages, type Part, partsOf } from './gen-ai-messages.ts';

/**
 * Returns the parameters and messages of a request with the names of the conventions, from bodies whose credentials are masked. A list of
 * messages longer than `charsMax` loses its oldest ones, and then the ends of its texts.
 */
export function contentAttributes(
  { request, response }: Pick<RecordContent, 'request' | 'response'>,
  charsMax: number,
): KeyValue[] {
  const asked = isObject(request.body) ? request.body : {};
  const reply = isObject(response.body) ? response.body : {};
  const instructions = partsOf(asked.system ?? asked.instructions);
  const tools = Array.isArray(asked.tools) ? JSON.stringify(asked.tools) : null;
  return attributesOf({
    [genAi.maxTokens]: numberOf(asked.max_tokens ?? asked.max_completion_tokens ?? asked.max_output_tokens),
    [genAi.temperature]: doubleOf(asked.temperature),
    [genAi.topP]: doubleOf(asked.top_p),
    [genAi.topK]: numberOf(asked.top_k),
    [genAi.stopSequences]: textsOf(asked.stop ?? asked.stop_sequences),
    [genAi.frequencyPenalty]: doubleOf(asked.frequency_penalty),
    [genAi.presencePenalty]: doubleOf(asked.presence_penalty),
    [genAi.seed]: numberOf(asked.seed),
    [genAi.choiceCount]: asked.n === 1 ? null : numberOf(asked.n),
    [genAi.encodingFormats]: textsOf(asked.encoding_format),
    [genAi.dimensions]: numberOf(asked.dimensions),
    [genAi.responseId]: textOf(reply.id),
    [genAi.responseModel]: textOf(reply.model),
    [genAi.finishReasons]: reasonsOf(reply),
    [genAi.systemInstructions]: instructions.length === 0 ? null : boundedParts(instructions, charsMax, JSON.stringify),
    [genAi.inputMessages]: bounded(inputMessages(asked), charsMax),
    [genAi.outputMessages]: bounded(outputMessages(reply), charsMax),
    [genAi.toolDefinitions]: tools !== null && tools.length <= charsMax ? tools : null,
  });
}

/** Returns the messages as JSON of at most `charsMax` characters; null if there are none or nothing fits. */
function bounded(messages: readonly Message[], charsMax: number): string | null {
  const kept: string[] = [];
  let chars = 2;
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message);
    chars += text.length + 1;
    if (chars > charsMax) break;
    kept.unshift(text);
  }
  const last = messages.at(-1);
  if (kept.length > 0 || !last) return last ? `[${kept.join()}]` : null;
  return boundedParts(last.parts, charsMax, (parts) => JSON.stringify([{ ...last, parts }]));
}

/** Returns the parts with their texts cut as far as necessary. */
function boundedParts(parts: readonly Part[], charsMax: number, write: (parts: readonly Part[]) => string): string | null {
  for (let partMax = charsMax; partMax >= 1; partMax = Math.floor(partMax / 2)) {
    const text = write(parts.map((part) => cutPart(part, partMax)));
    if (text.length <= charsMax) return text;
  }
  return null;
}

function cutPart(part: Part, charsMax: number): Part {
  const { content } = part;
  return typeof content === 'string' && content.length > charsMax ? { ...part, content: cutText(content, charsMax) } : part;
}

function reasonsOf({ choices, stop_reason, status }: JsonObject): readonly string[] | null {
  const given = Array.isArray(choices)
    ? choices.map((choice) => (isObject(choice) ? choice.finish_reason : null))
    : [stop_reason ?? status];
  const reasons = given.flatMap((reason) => (typeof reason === 'string' ? [finishReason(reason)] : []));
  return reasons.length === 0 ? null : reasons;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function doubleOf(value: unknown): { readonly doubleValue: number } | null {
  return typeof value === 'number' && Number.isFinite(value) ? { doubleValue: value } : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? cutText(value, 200) : null;
}

function textsOf(value: unknown): readonly string[] | null {
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string').map((one) => cutText(one, 200));
  return texts.length === 0 ? null : texts.slice(0, 20);
}
