import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import type { ChatExtra } from './request.ts';
import { sentName } from './tool-names.ts';

/** Parts of the chat format, which clients of the gateway may use in Messages turns. */
const chatParts: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file', 'refusal', 'video_url']);

/**
 * Converts the content of a Messages turn (text, or blocks) to chat content parts. Chat parts are passed unchanged. A summary of
 * an earlier conversation (`compaction`) and the name of a tool that a search found (`tool_reference`) become text. Every other block is left out and reported, because only Anthropic can
 * read it (its own tools, files of its store, sealed reasoning). Throws `bad_request` naming the block whose source cannot be
 * carried over.
 */
export function partsOfBlocks(
  content: unknown,
  path: string,
  call: OperationCall,
  understands: readonly ChatExtra[],
): JsonObject[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content blocks is expected');
  return content.flatMap((block, index) => {
    const at = content.length === 1 ? path : `${path}[${index}]`;
    if (!isObject(block)) throw badParam(at, 'a content block must be an object');
    if (typeof block.type !== 'string') throw badParam(`${at}.type`, 'text is required');
    return partsOfBlock(block, at, call, understands).map((part) => withHint(part, block, call, understands));
  });
}

function partsOfBlock(block: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  switch (block.type) {
    case 'text':
      if (Array.isArray(block.citations) && block.citations.length > 0) noteOnce(call.dropped, 'messages.citations');
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block.source, path) } }];
    case 'document':
      return documentParts(block, path, call, understands);
    case 'search_result':
      return [{ type: 'text', text: searchResultText(block) }];
    case 'compaction':
      if (typeof block.content !== 'string' || block.content === '') return [];
      noteOnce(call.adapted, 'messages.compaction');
      return [{ type: 'text', text: block.content }];
    case 'tool_reference':
      // Claude Code's ToolSearch returns nothing else. A model that gets an empty result searches again.
      if (!isText(block.tool_name)) return [];
      noteOnce(call.adapted, 'messages.tool_reference');
      return [{ type: 'text', text: `The tool ${String(sentName(block.tool_name, call))} can be called now.` }];
    case 'tool_addition':
    case 'tool_removal':
      // `toolsInEffect` applies and reports these.
      return [];
    default:
      if (chatParts.has(block.type)) return [block];
      noteOnce(call.dropped, `messages.${String(block.type)}`);
      return [];
  }
}

function withHint(part: JsonObject, block: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  if (part === block || block.cache_control === undefined || block.cache_control === null) return part;
  if (understands.includes('cache_control')) return { ...part, cache_control: block.cache_control };
  noteOnce(call.dropped, 'cache_control');
  return part;
}

function imageUrl(source: unknown, path: string): string {
  if (isObject(source) && source.type === 'base64') return `data:${String(source.media_type)};base64,${String(source.data)}`;
  if (isObject(source) && source.type === 'url' && typeof source.url === 'string') return source.url;
  throw badParam(`${path}.source`, 'an image must be base64 or a URL here');
}

/** The title of a base64 document is its file name. Other titles, and the context, are a text part before the document. */
function documentParts(block: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  const source = isObject(block.source) ? block.source : {};
  const { title, context, citations } = block;
  if (isObject(citations) && citations.enabled === true) noteOnce(call.dropped, 'messages.citations');
  if (source.type === 'base64') {
    const data = `data:${String(source.media_type)};base64,${String(source.data)}`;
    const filename = typeof title === 'string' ? title : 'document.pdf';
    return [...textOfLines([context]), { type: 'file', file: { filename, file_data: data } }];
  }
  return [...textOfLines([title, context]), ...documentContent(source, path, call, understands)];
}

function documentContent(source: JsonObject, path: string, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (source.type === 'text') return [{ type: 'text', text: source.data }];
  if (source.type === 'content') return partsOfBlocks(source.content, `${path}.source.content`, call, []);
  const takesUrls = understands.includes('file_urls');
  if (takesUrls && source.type === 'url' && typeof source.url === 'string') {
    return [{ type: 'file', file: { file_data: source.url } }];
  }
  throw badParam(`${path}.source`, `a document must be base64${takesUrls ? ', a URL' : ''} or text here`);
}

function textOfLines(lines: readonly unknown[]): JsonObject[] {
  const text = lines.filter(isText).join('\n');
  return text === '' ? [] : [{ type: 'text', text }];
}

function searchResultText(block: JsonObject): string {
  const texts = Array.isArray(block.content) ? block.content.filter(isObject).map((part) => String(part.text ?? '')) : [];
  return [block.title, block.source, ...texts].filter(isText).join('\n');
}
