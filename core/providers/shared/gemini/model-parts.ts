import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import { badParam } from '../bad-param.ts';
import { noteOnce } from '../note-once.ts';
import { toolArguments } from '../tool-arguments.ts';
import { imagePart } from './media.ts';
import { traitsOf } from './models.ts';
import { contentParts } from './parts.ts';
import { fromBlockSignature, signatureIn } from './signatures.ts';

/**
 * An assistant message as the parts it was, signatures in their places: on tool calls, on the text, on images. Those that are
 * only in thinking blocks of `content_blocks` belong to the calls in their order, or else to the text. Summaries of thoughts are
 * not sent: the signature is what the model remembers by.
 */
export function modelParts(message: JsonObject, path: string, call: OperationCall): JsonObject[] {
  const blocks = Array.isArray(message.content_blocks) ? message.content_blocks.filter(isObject) : [];
  if (message.reasoning_content && blocks.length === 0) noteOnce(call.dropped, 'messages.reasoning_content');
  const spoken = [
    ...blocks.flatMap(nativePart),
    ...contentParts(message.content ?? textBlocks(blocks), `${path}.content`, call),
    ...contentParts(message.refusal, `${path}.refusal`, call),
    ...imageParts(message.images, path),
  ];
  const own = signatureIn(message);
  if (own !== null) signText(spoken, own);
  const calls = callParts(message.tool_calls, path, call);
  const used = new Set([...spoken, ...calls].map((part) => part.thoughtSignature));
  const spare = signaturesOf(blocks, call).filter((signature) => !used.has(signature));
  for (const [index, part] of calls.entries()) {
    if (part.thoughtSignature === undefined && spare.length > 0) calls[index] = { ...part, thoughtSignature: spare.shift() };
  }
  for (const signature of spare) signText(spoken, signature);
  return [...spoken, ...calls];
}

/** For clients that send `content_blocks` back in place of the content. */
function textBlocks(blocks: readonly JsonObject[]): JsonObject[] {
  return blocks.filter((block) => block.type === 'text');
}

/** Puts a signature on the last text that has none; after a stream it stands on an empty one (as Gemini itself sends it). */
function signText(parts: JsonObject[], signature: string): void {
  const last = parts.at(-1);
  if (last?.text !== undefined && last.thoughtSignature === undefined) {
    parts[parts.length - 1] = { ...last, thoughtSignature: signature };
  } else parts.push({ text: '', thoughtSignature: signature });
}

/** Signatures in thinking blocks. Those of other providers mean nothing here and are left out. */
function signaturesOf(blocks: readonly JsonObject[], call: OperationCall): string[] {
  const signatures: string[] = [];
  for (const { type, signature, data } of blocks) {
    if (type !== 'thinking' && type !== 'redacted_thinking') continue;
    const ours = fromBlockSignature(signature);
    if (ours !== null) signatures.push(ours);
    else if (signature || data) noteOnce(call.dropped, 'messages.thinking');
  }
  return signatures;
}

/** Parts that chat completions have no words for (code that was run, and its result) come back as they left. */
function nativePart(block: JsonObject): JsonObject[] {
  const { type: _type, ...part } = block;
  return part.executableCode !== undefined || part.codeExecutionResult !== undefined ? [part] : [];
}

function imageParts(images: unknown, path: string): JsonObject[] {
  if (!Array.isArray(images)) return [];
  return images.filter(isObject).map((image, index) => {
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
