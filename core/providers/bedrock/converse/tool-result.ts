import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { makerOf } from '../model-id.ts';
import { cachePoints } from './cache-points.ts';
import { contentBlocks, type NameDocument } from './content-parts.ts';
import { toolId } from './tool-id.ts';

/** Kinds of media that the models of a maker reject inside the result of a tool, but accept beside or after it. */
const rejectedInside: Readonly<Record<string, readonly string[]>> = {
  mistral: ['image', 'video'],
  moonshot: ['image', 'document', 'video'],
  moonshotai: ['image', 'document', 'video'],
  qwen: ['image', 'document', 'video'],
};

/**
 * Returns the result of a call. A caching hint in its content follows the result, because results cannot contain cache points. Media that the
 * model rejects inside a result follow it with a text that names the call.
 */
export function toolResult(message: JsonObject, path: string, names: NameDocument, call: OperationCall): JsonObject[] {
  if (typeof message.tool_call_id !== 'string') throw badParam(`${path}.tool_call_id`, 'text is required');
  const maker = makerOf(call.model);
  const blocks = contentBlocks(message.content, `${path}.content`, names, call);
  const hint = blocks.findLast((block) => block.cachePoint !== undefined);
  const toolUseId = toolId(message.tool_call_id);
  const isMoved = (block: JsonObject) => rejectedInside[maker]?.some((kind) => block[kind] !== undefined) === true;
  const moved = blocks.filter(isMoved);
  const content = blocks.filter((block) => block.cachePoint === undefined && !isMoved(block));
  const after = hint === undefined ? cachePoints(message, call) : [hint];
  if (moved.length > 0) {
    noteOnce(call.adapted, 'messages');
    content.push({ text: 'The attachments of this result follow.' });
    after.push({ text: `Attachments of the result ${toolUseId}:` }, ...moved);
  }
  if (message.is_error !== true) return [{ toolResult: { toolUseId, content } }, ...after];
  // Bedrock rejects a failure without content.
  const reason = content.length === 0 ? [{ text: 'The tool failed.' }] : content;
  // Writer rejects the field.
  if (maker === 'writer') noteOnce(call.dropped, 'messages.is_error');
  const status = maker === 'writer' ? {} : { status: 'error' };
  return [{ toolResult: { toolUseId, content: reason, ...status } }, ...after];
}
