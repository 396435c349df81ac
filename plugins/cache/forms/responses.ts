import { isObject, type JsonObject, listOf, objectsIn } from '../../../core/contract/values/json/json.ts';
import { typedEvent } from '../../../core/contract/values/text/event-text.ts';
import { repeatedMax, textOf } from './events.ts';

/** Returns the response in the last event of a stream. Null if the response failed or is not complete. */
export function responseFromEvents(events: readonly JsonObject[]): JsonObject | null {
  const last = events.at(-1);
  if (last?.type !== 'response.completed' && last?.type !== 'response.incomplete') return null;
  return isObject(last.response) ? last.response : null;
}

/** Writes a response as events. Null if it is not complete or has no output list, or if its events would be far longer than the response. */
export function responseToEvents(response: JsonObject): string | null {
  const { output, status } = response;
  if (!Array.isArray(output) || (status !== 'completed' && status !== 'incomplete')) return null;
  if (objectsIn(output).reduce((sum, item) => sum + lengthOfIds(item), 0) > repeatedMax) return null;
  let stream = '';
  let sequence = 0;
  const write = (type: string, fields: JsonObject): void => {
    stream += typedEvent({ type, ...fields, sequence_number: sequence++ });
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  write('response.created', { response: begun });
  write('response.in_progress', { response: begun });
  for (const [output_index, item] of output.filter(isObject).entries()) writeItem(output_index, item, write);
  write(`response.${status}`, { response });
  return stream;
}

/** Returns the characters of the item's id in its events, which have it for each part and each annotation. */
function lengthOfIds({ id, content, summary }: JsonObject): number {
  const parts = objectsIn(content);
  const annotations = parts.reduce((sum, part) => sum + listOf(part.annotations).length, 0);
  return (JSON.stringify(id)?.length ?? 0) * (4 * (parts.length + objectsIn(summary).length) + annotations);
}

type Write = (type: string, fields: JsonObject) => void;

function writeItem(output_index: number, item: JsonObject, write: Write): void {
  const at = { item_id: item.id, output_index };
  const begun = item.status === undefined ? {} : { status: 'in_progress' };
  if (item.type === 'message' && Array.isArray(item.content)) {
    write('response.output_item.added', { output_index, item: { ...item, ...begun, content: [] } });
    for (const [content_index, part] of item.content.filter(isObject).entries()) writePart({ ...at, content_index }, part, write);
  } else if (item.type === 'function_call') {
    write('response.output_item.added', { output_index, item: { ...item, ...begun, arguments: '' } });
    write('response.function_call_arguments.delta', { ...at, delta: textOf(item.arguments) });
    write('response.function_call_arguments.done', { ...at, name: item.name, arguments: textOf(item.arguments) });
  } else if (item.type === 'custom_tool_call') {
    write('response.output_item.added', { output_index, item: { ...item, ...begun, input: '' } });
    write('response.custom_tool_call_input.delta', { ...at, delta: textOf(item.input) });
    write('response.custom_tool_call_input.done', { ...at, input: textOf(item.input) });
  } else if (item.type === 'reasoning' && Array.isArray(item.summary)) {
    write('response.output_item.added', { output_index, item: { ...item, ...begun, summary: [] } });
    for (const [summary_index, part] of item.summary.filter(isObject).entries()) {
      const place = { ...at, summary_index };
      write('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } });
      write('response.reasoning_summary_text.delta', { ...place, delta: textOf(part.text) });
      write('response.reasoning_summary_text.done', { ...place, text: textOf(part.text) });
      write('response.reasoning_summary_part.done', { ...place, part });
    }
  } else write('response.output_item.added', { output_index, item: { ...item, ...begun } });
  write('response.output_item.done', { output_index, item });
}

function writePart(at: JsonObject, part: JsonObject, write: Write): void {
  if (part.type === 'refusal') {
    write('response.content_part.added', { ...at, part: { ...part, refusal: '' } });
    write('response.refusal.delta', { ...at, delta: textOf(part.refusal) });
    write('response.refusal.done', { ...at, refusal: textOf(part.refusal) });
  } else {
    const { annotations, logprobs = [] } = part;
    write('response.content_part.added', { ...at, part: { ...part, text: '', annotations: [] } });
    write('response.output_text.delta', { ...at, delta: textOf(part.text), logprobs });
    for (const [annotation_index, annotation] of (Array.isArray(annotations) ? annotations : []).entries()) {
      write('response.output_text.annotation.added', { ...at, annotation_index, annotation });
    }
    write('response.output_text.done', { ...at, text: textOf(part.text), logprobs });
  }
  write('response.content_part.done', { ...at, part });
}
