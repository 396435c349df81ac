import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';
import { furtherModels } from '../../contract/values/models/readable-models.ts';
import { lineTooLong, textLines } from '../../contract/values/text/text-lines.ts';
import { withCustomCallsInLine, withFunctionsInLine } from '../../translate/custom-tools/batch-lines.ts';
import { badParam } from '../bad-param.ts';

/** One request of a batch in OpenAI's form (https://platform.openai.com/docs/api-reference/batch/request-input). */
export interface BatchRequest {
  readonly customId: string;
  readonly url: string;
  readonly body: JsonObject;
}

/**
 * Yields the requests of an input file, as `call.checkLine` has left them, with functions for custom tools. Throws `bad_request` naming `param` and the invalid line, and
 * what `checkLine` throws.
 */
export async function* readBatchRequests(
  file: AsyncIterable<Uint8Array>,
  call: Pick<OperationCall, 'checkLine' | 'adapted'>,
  param = 'input_file_id',
): AsyncGenerator<BatchRequest> {
  let number = 0;
  for await (const text of readLines(file)) {
    number++;
    if (text.trim() === '') continue;
    const line = parseObject(text);
    if (!line || typeof line.custom_id !== 'string' || !isObject(line.body)) {
      throw badParam(`${param} line ${number}`, 'a JSON object with custom_id, method, url and body is expected');
    }
    const url = String(line.url ?? '');
    const body = call.checkLine ? await call.checkLine(url, line.body) : line.body;
    yield { customId: line.custom_id, url, body: withFunctionsInLine(body, call) };
  }
}

/**
 * Yields lines of UTF-8 text as JSON objects. With `param` an invalid line throws `bad_request` naming it. Without `param` it is
 * skipped.
 */
export async function* readJsonLines(source: AsyncIterable<Uint8Array>, param?: string): AsyncGenerator<JsonObject> {
  let number = 0;
  for await (const text of readLines(source)) {
    number++;
    const line = parseObject(text);
    if (line) yield line;
    else if (param !== undefined && text.trim() !== '') throw badParam(`${param} line ${number}`, 'a JSON object is expected');
  }
}

/** Returns the call for one line of a batch. Throws `model_not_allowed` if the batch must not use the line's model. */
export function callOfLine(call: OperationCall, body: JsonObject): OperationCall {
  const model = typeof body.model === 'string' ? body.model.replace(/^@(?!cf\/|hf\/)[^/]+\//, '') : '';
  if (call.allowModel) for (const each of [model, ...furtherModels(body)]) call.allowModel(each);
  return { ...call, params: { ...body, model }, model, stream: false, form: null };
}

/** Writes a line of output in OpenAI's form, with calls of custom tools for calls of the functions that stood for them. */
export function outputLine(
  id: string,
  customId: unknown,
  outcome: { readonly response: JsonObject | null; readonly error: JsonObject | null },
) {
  const { response, error } = outcome;
  const body = isObject(response?.body) ? { body: withCustomCallsInLine(response.body) } : {};
  return Buffer.from(`${JSON.stringify({ id, custom_id: customId, response: response && { ...response, ...body }, error })}\n`);
}

const lineCharactersMax = 64 * 1024 * 1024;

async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const line of textLines(source, lineCharactersMax)) {
    if (line === lineTooLong) throw badParam('input_file_id', 'a line of the file is too long');
    if (hasTooManyValues(line)) throw badParam('input_file_id', tooManyValues);
    yield line;
  }
}
