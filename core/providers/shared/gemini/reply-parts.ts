import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import { dataUrlOf } from './media.ts';
import { extraContent, toBlockSignature } from './signatures.ts';

/** Part of a native block: `content_blocks` of a delta. The first of an index opens the block, texts of later ones append. */
export interface BlockPiece {
  readonly index: number;
  readonly delta: JsonObject;
}

/** What some parts of a candidate say, in the fields of a chat message or delta. Empty fields are left out. */
export interface Said {
  readonly content: string | null;
  readonly toolCalls: readonly JsonObject[];
  readonly images: readonly JsonObject[];
  /** Signature of the text. */
  readonly signature: string | null;
  readonly blocks: readonly BlockPiece[];
}

/** Reads the parts of one candidate, all at once or chunk by chunk: both give the same blocks. */
export interface PartsReader {
  read(candidate: JsonObject): Said;
  callsTools(): boolean;
}

export function partsReader(call: OperationCall): PartsReader {
  /** The block that is open: what it is, and whether a signature has closed it. */
  let open: 'none' | 'thinking' | 'sealed' | 'text' | 'other' = 'none';
  let last = -1;
  let calls = 0;

  const piece = (kind: typeof open, opening: JsonObject, more: JsonObject | null): BlockPiece => {
    if (more !== null && open === kind) return { index: last, delta: more };
    open = kind;
    last += 1;
    return { index: last, delta: opening };
  };
  const thought = (text: string): BlockPiece =>
    piece('thinking', { type: 'thinking', thinking: text, signature: '' }, { thinking: text });
  const spoken = (text: string): BlockPiece => piece('text', { type: 'text', text }, { text });
  /** A signature goes to the thoughts before it, or stands in a block without any. */
  const sealed = (signature: string): BlockPiece => {
    const text = toBlockSignature(signature);
    const made = piece('thinking', { type: 'thinking', thinking: '', signature: text }, { signature: text });
    open = 'sealed';
    return made;
  };

  return {
    callsTools: () => calls > 0,
    read(candidate) {
      const said = { content: null as string | null, signature: null as string | null };
      const toolCalls: JsonObject[] = [];
      const images: JsonObject[] = [];
      const blocks: BlockPiece[] = [];
      const parts = isObject(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : [];
      for (const part of parts.filter(isObject)) {
        const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : null;
        const extra = signature === null ? {} : extraContent(signature);
        if (part.thought === true) {
          blocks.push(thought(String(part.text ?? '')), ...(signature === null ? [] : [sealed(signature)]));
        } else if (isObject(part.functionCall)) {
          if (signature !== null) blocks.push(sealed(signature));
          const { id, name, args } = part.functionCall;
          const callId = typeof id === 'string' && id !== '' ? id : call.newId('call_');
          blocks.push(piece('other', { type: 'tool_use', id: callId, name, input: args ?? {} }, null));
          const fn = { name, arguments: JSON.stringify(args ?? {}) };
          toolCalls.push({ id: callId, type: 'function', function: fn, ...extra });
          calls += 1;
        } else if (typeof part.text === 'string') {
          if (part.text !== '' || signature === null) said.content = (said.content ?? '') + part.text;
          if (part.text !== '') blocks.push(spoken(part.text));
          if (signature !== null) {
            said.signature = signature;
            blocks.push(sealed(signature));
          }
        } else if (isObject(part.inlineData) && String(part.inlineData.mimeType).startsWith('image/')) {
          images.push({ type: 'image_url', image_url: { url: dataUrlOf(part.inlineData) }, ...extra });
        } else {
          blocks.push(piece('other', { type: kindOf(part), ...part }, null));
        }
      }
      return { ...said, toolCalls, images, blocks };
    },
  };
}

/** Pieces of blocks put together, as a plain reply has them. */
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

/** `executable_code` for a part that holds `executableCode`. */
function kindOf(part: JsonObject): string {
  const name = Object.keys(part).find((key) => key !== 'thoughtSignature') ?? 'part';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
