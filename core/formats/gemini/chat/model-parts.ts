import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { noteOnce } from '../../note-once.ts';
import { toolArguments } from '../../openai/tool-arguments.ts';
import { isNativePart, isSharedBlock, openBlock } from '../../sealed-blocks.ts';
import { imagePart } from '../media.ts';
import { traitsOf } from '../models.ts';
import { contentParts } from '../parts.ts';
import { fromBlockSignature, type PartSignature, signatureIn } from './signatures.ts';

/**
 * Restores the original parts of an assistant message, with signatures on their reasoning, text, images and tool calls. A
 * signature in a thinking block of `content_blocks` names the part that it belongs to. Unsigned reasoning is not sent, because
 * the model restores its state from the signature.
 */
export function modelParts(message: JsonObject, path: string, call: OperationCall): JsonObject[] {
  const blocks = objectsIn(message.content_blocks).map(openBlock);
  if (message.reasoning_content && blocks.length === 0) noteOnce(call.dropped, 'messages.reasoning_content');
  // Parts without an equivalent in chat completions (executed code, calls of server tools) are restored unchanged.
  if (blocks.some((block) => !isSharedBlock(block) && !isNativePart(block))) noteOnce(call.dropped, 'messages.content_blocks');
  const native = blocks.filter(isNativePart).map(({ type: _type, ...part }) => part);
  const texts = [
    ...contentParts(message.content ?? textBlocks(blocks), `${path}.content`, call),
    ...contentParts(message.refusal, `${path}.refusal`, call),
  ];
  const images = imageParts(message.images, path);
  const calls = callParts(message.tool_calls, path, call);
  const own = signatureIn(message);
  if (own !== null) signText(texts, own);
  const used = new Set([...texts, ...images, ...calls].map((part) => part.thoughtSignature));
  const reasoning: JsonObject[] = [];
  const spare: string[] = [];
  for (const { block, part, signature } of signaturesOf(blocks, call)) {
    if (used.has(signature)) continue;
    const [kind, ordinal] = part?.split('.') ?? [];
    const signed = kind === 'call' ? calls : images;
    if (kind === 'thought') reasoning.push({ text: String(block.thinking ?? ''), thought: true, thoughtSignature: signature });
    else if (kind === 'text') signText(texts, signature);
    else if (part === null || !sign(signed, Number(ordinal), signature)) spare.push(signature);
  }
  for (const index of calls.keys()) {
    const next = spare[0];
    if (next !== undefined && sign(calls, index, next)) spare.shift();
  }
  for (const signature of spare) signText(texts, signature);
  return [...reasoning, ...native, ...texts, ...images, ...calls];
}

/** Returns the text blocks, for clients that send `content_blocks` back in place of the content. */
function textBlocks(blocks: readonly JsonObject[]): JsonObject[] {
  return blocks.filter((block) => block.type === 'text');
}

/** Adds a signature to the last text without one. After a stream it is added to an empty text, as Gemini sends it. */
function signText(parts: JsonObject[], signature: string): void {
  if (!sign(parts, parts.length - 1, signature)) parts.push({ text: '', thoughtSignature: signature });
}

/** Returns false if the part is missing or already signed. */
function sign(parts: JsonObject[], index: number, signature: string): boolean {
  const part = parts[index];
  if (part === undefined || part.thoughtSignature !== undefined) return false;
  parts[index] = { ...part, thoughtSignature: signature };
  return true;
}

/** Returns the signatures in thinking blocks. Those of other providers are left out, because Gemini cannot read them. */
function signaturesOf(blocks: readonly JsonObject[], call: OperationCall): (PartSignature & { block: JsonObject })[] {
  return blocks.flatMap((block) => {
    if (block.type !== 'thinking' && block.type !== 'redacted_thinking') return [];
    const ours = fromBlockSignature(block.signature);
    if (ours !== null) return [{ ...ours, block }];
    if (block.signature || block.data) noteOnce(call.dropped, 'messages.thinking');
    return [];
  });
}

function imageParts(images: unknown, path: string): JsonObject[] {
  return objectsIn(images).map((image, index) => {
    const signature = signatureIn(image);
    return { ...imagePart(image, `${path}.images[${index}]`), ...(signature === null ? {} : { thoughtSignature: signature }) };
  });
}

function callParts(toolCalls: unknown, path: string, call: OperationCall): JsonObject[] {
  if (toolCalls === undefined || toolCalls === null) return [];
  if (!Array.isArray(toolCalls)) throw badParam(`${path}.tool_calls`, 'a list is expected');
  return toolCalls.map((toolCall, index) => {
    const at = `${path}.tool_calls[${index}]`;
    if (!isObject(toolCall) || !isObject(toolCall.function)) throw badParam(at, 'only calls of functions are supported');
    const id = traitsOf(call.model).signedCalls && typeof toolCall.id === 'string' ? { id: toolCall.id } : {};
    const signature = signatureIn(toolCall);
    return {
      functionCall: { ...id, name: toolCall.function.name, args: toolArguments(toolCall.function.arguments, call) },
      ...(signature === null ? {} : { thoughtSignature: signature }),
    };
  });
}
