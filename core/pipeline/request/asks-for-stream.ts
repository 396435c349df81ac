import type { JsonObject } from '../../contract/values/json/json.ts';

/** True for parameters that ask for a streamed reply. Fields of a form are texts, and Python writes `True`. */
export function asksForStream(params: JsonObject, isForm: boolean): boolean {
  const { stream, stream_format: format } = params;
  return stream === true || (isForm ? stream === 'true' || stream === 'True' : format === 'sse');
}
