import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { newCallId } from '../../new-call-id.ts';
import { dropFromReply } from '../../reply-notes.ts';
import { contentOf, kindOf } from '../../sealed-blocks.ts';
import { dataUrlOf } from '../media.ts';
import { annotationsOf, documentsOf } from './grounding.ts';
import { isPieceOfCall, type PartialCall, partialCall } from './partial-call.ts';
import { ReplyText } from './reply-text.ts';
import { extraContent, type SignedPart, toBlockSignature } from './signatures.ts';

/**
 * Piece of a native block, in `content_blocks` of a delta. The first piece of an index opens the block. Texts of later pieces are
 * appended.
 */
export interface BlockPiece {
  readonly index: number;
  readonly delta: JsonObject;
}

/** Content of some parts of a candidate, in the fields of a chat message or delta. Empty fields are left out. */
export interface ReplyMessage {
  readonly content: string | null;
  readonly reasoning: string;
  readonly toolCalls: readonly JsonObject[];
  readonly images: readonly JsonObject[];
  readonly annotations: readonly JsonObject[];
  /** Citations of documents, in Anthropic's form; for callers without strict compliance. */
  readonly citations: readonly JsonObject[];
  /** Signature of the text. */
  readonly signature: string | null;
  readonly blocks: readonly BlockPiece[];
}

/** Reads the parts of one candidate, all at once or chunk by chunk: both give the same blocks. */
export interface PartsReader {
  read(candidate: JsonObject): ReplyMessage;
  callsTools(): boolean;
}

/** A `ReplyMessage` while it is being built. */
interface OpenMessage {
  content: string | null;
  reasoning: string;
  readonly toolCalls: JsonObject[];
  readonly images: JsonObject[];
  signature: string | null;
  readonly blocks: BlockPiece[];
}

/** Reads the parts of the candidates of one reply or stream, in their order. */
export function partsReader(call: OperationCall): PartsReader {
  /** State of the last block: its kind, or `sealed` if a signature has closed it. */
  let open: 'none' | 'thinking' | 'sealed' | 'text' | 'other' = 'none';
  let last = -1;
  let [calls, images] = [0, 0];
  /** All text so far. Offsets of annotations refer to it. */
  const text = new ReplyText();
  let pending: PartialCall | null = null;

  const piece = (kind: typeof open, opening: JsonObject, more: JsonObject | null): BlockPiece => {
    if (more !== null && open === kind) return { index: last, delta: more };
    open = kind;
    last += 1;
    return { index: last, delta: opening };
  };
  const reasoningPart = (text: string): BlockPiece =>
    piece('thinking', { type: 'thinking', thinking: text, signature: '' }, { thinking: text });
  const spoken = (text: string): BlockPiece => piece('text', { type: 'text', text: text }, { text: text });
  /** A signature belongs to the reasoning before it. Without any, it gets a block of its own. */
  const sealed = (signature: string, part: SignedPart): BlockPiece => {
    const marked = toBlockSignature(signature, part);
    const made = piece('thinking', { type: 'thinking', thinking: '', signature: marked }, { signature: marked });
    open = 'sealed';
    return made;
  };

  const addCall = (message: OpenMessage, { id, name, args }: JsonObject, signature: string | null): void => {
    if (signature !== null) message.blocks.push(sealed(signature, `call.${calls}`));
    const callId = typeof id === 'string' && id !== '' ? id : newCallId(call);
    message.blocks.push(piece('other', { type: 'tool_use', id: callId, name, input: args ?? {} }, null));
    const fn = { name, arguments: JSON.stringify(args ?? {}) };
    message.toolCalls.push({
      id: callId,
      type: 'function',
      function: fn,
      ...(signature === null ? {} : extraContent(signature)),
    });
    calls += 1;
  };
  const endPending = (message: OpenMessage): void => {
    if (pending !== null) addCall(message, pending.whole(), pending.signature);
    pending = null;
  };
  const addPiece = (message: OpenMessage, functionCall: JsonObject, signature: string | null): void => {
    if (typeof functionCall.name === 'string') {
      endPending(message);
      pending = partialCall(functionCall, signature);
    }
    pending?.add(functionCall);
    if (functionCall.willContinue !== true) endPending(message);
  };
  const addText = (message: OpenMessage, words: string, signature: string | null): void => {
    if (words !== '' || signature === null) message.content = (message.content ?? '') + words;
    text.push(words);
    if (words !== '') message.blocks.push(spoken(words));
    if (signature === null) return;
    message.signature = signature;
    message.blocks.push(sealed(signature, 'text'));
  };

  const addPart = (message: OpenMessage, part: JsonObject): void => {
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : null;
    const { functionCall, inlineData } = part;
    if (isObject(functionCall) && isPieceOfCall(functionCall, pending)) return addPiece(message, functionCall, signature);
    endPending(message);
    if (isObject(functionCall)) {
      // A piece without a name is the end of a call that had already ended. It is ignored.
      if (functionCall.name !== undefined) addCall(message, functionCall, signature);
    } else if (part.thought === true && typeof part.text === 'string') {
      message.reasoning += part.text;
      message.blocks.push(reasoningPart(part.text));
      if (signature !== null) message.blocks.push(sealed(signature, 'thought'));
    } else if (typeof part.text === 'string') addText(message, part.text, signature);
    else if (part.thought !== true && isObject(inlineData) && String(inlineData.mimeType).startsWith('image/')) {
      const extra = signature === null ? {} : extraContent(signature);
      message.images.push({ type: 'image_url', image_url: { url: dataUrlOf(inlineData) }, ...extra });
      if (signature !== null) message.blocks.push(sealed(signature, `image.${images}`));
      images += 1;
    } else {
      if (call.strict) dropFromReply(call, contentOf(part));
      message.blocks.push(piece('other', { type: kindOf(part), ...part }, null));
    }
  };

  return {
    callsTools: () => calls > 0,
    read(candidate) {
      const message: OpenMessage = { content: null, reasoning: '', toolCalls: [], images: [], signature: null, blocks: [] };
      const parts = isObject(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : [];
      for (const part of parts.filter(isObject)) addPart(message, part);
      if (typeof candidate.finishReason === 'string') endPending(message);
      const citations = call.strict ? [] : documentsOf(candidate);
      return { ...message, annotations: annotationsOf(candidate, text, call), citations };
    },
  };
}

/** Joins pieces into blocks, as in a plain reply. */
export function wholeBlocks(pieces: readonly BlockPiece[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const { index, delta } of pieces) {
    const block = blocks[index];
    if (block === undefined) blocks[index] = delta;
    else {
      const appended = Object.entries(delta).map(([name, text]) => [name, `${String(block[name] ?? '')}${String(text)}`]);
      blocks[index] = { ...block, ...Object.fromEntries(appended) };
    }
  }
  return blocks;
}
