import { isObject, type JsonObject, objectsIn } from '../../values/json/json.ts';
import { removeRepeats } from './repeated-texts.ts';
import { rewriteWhole, type TextFormat, type TextRewriter } from './text-rewriter.ts';

type Start = () => TextRewriter;

/**
 * Rewrites the texts of a whole reply in place. What repeats the original text is removed, such as token probabilities. Everything else stays,
 * such as tool calls and reasoning.
 */
export function rewriteBody(format: TextFormat, body: JsonObject, start: Start): void {
  removeRepeats(body);
  const rewrite = (text: string): string => rewriteWhole(start(), text);
  if (format === 'chat') {
    for (const choice of objectsIn(body.choices)) {
      if (typeof choice.text === 'string') choice.text = rewrite(choice.text);
      if (isObject(choice.message)) rewriteMessage(choice.message, rewrite);
    }
  } else if (format === 'messages') {
    for (const block of objectsIn(body.content)) {
      if (block.type === 'text' && typeof block.text === 'string') block.text = rewrite(block.text);
    }
  } else for (const part of outputParts(body)) rewritePart(part, rewrite);
}

function rewriteMessage(message: JsonObject, rewrite: (text: string) => string): void {
  if (typeof message.content === 'string') message.content = rewrite(message.content);
  for (const part of objectsIn(message.content)) {
    if (part.type === 'text' && typeof part.text === 'string') part.text = rewrite(part.text);
  }
}

function rewritePart(part: JsonObject, rewrite: (text: string) => string): void {
  if (part.type !== 'output_text' || typeof part.text !== 'string') return;
  part.text = rewrite(part.text);
}

function outputParts(body: JsonObject): JsonObject[] {
  return objectsIn(body.output).flatMap((item) => objectsIn(item.content));
}
