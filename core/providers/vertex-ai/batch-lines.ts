import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type BatchRequest, callOfLine, outputLine, readJsonLines } from '../../formats/stored/batch-lines.ts';
import { vertexModel } from './models.ts';
import { chatComplete } from './operations.ts';

/**
 * Folder of batches that the gateway creates. The folder below it names the model, so that results can be read without their job.
 */
export const batchFolder = 'svc-batches/';

/** Returns the folder of a batch's results, whose name holds the model as base64url: `modelOfOutput` reads it back. */
export function outputFolder(folder: string, model: string): string {
  return `${folder}chat.${Buffer.from(model).toString('base64url')}/`;
}

/** Returns the model of the batch whose results have this key; null for files that the gateway did not create. */
export function modelOfOutput(key: string): string | null {
  const [, model] = /^svc-batches\/[^/]+\/chat\.([\w-]+)\//.exec(key) ?? [];
  return model === undefined ? null : Buffer.from(model, 'base64url').toString('utf8');
}

/**
 * Writes one line of a job's input. Claude's lines have an id of their own. Gemini's results repeat their request, so the id is
 * in its labels, in hexadecimal digits because labels allow few characters.
 */
export function inputLine({ customId, body }: BatchRequest, model: string, call: OperationCall): Uint8Array {
  const line = callOfLine(call, body.model === undefined ? { ...body, model } : body);
  if (line.model !== model) {
    throw badParam('input_file_id', `${customId.slice(0, 64)}: a batch of vertex-ai has one model, ${model}`);
  }
  const request = chatComplete.toProvider?.(line.params, line) ?? line.params;
  if (vertexModel(model).family === 'claude') return jsonLine({ custom_id: customId, request });
  const labels = { ...(isObject(request.labels) ? request.labels : {}), ...labelsOf(customId) };
  return jsonLine({ request: { ...request, labels } });
}

/** Returns lines of results in OpenAI's form. Null if the key is not that of results of a batch that the gateway created. */
export function outputLines(
  key: string,
  results: AsyncIterable<Uint8Array>,
  call: OperationCall,
): AsyncIterable<Uint8Array> | null {
  const model = key.endsWith('.jsonl') ? modelOfOutput(key) : null;
  return model === null ? null : toLines(results, model, call);
}

async function* toLines(results: AsyncIterable<Uint8Array>, model: string, call: OperationCall): AsyncGenerator<Uint8Array> {
  const lineCall = callOfLine(call, { model });
  for await (const line of readJsonLines(results)) {
    const id = call.newId('batch_req_');
    const customId = line.custom_id ?? idOfLabels(isObject(line.request) ? line.request.labels : null);
    const reply = replyOf(line.response);
    const failed = (typeof line.status === 'string' && line.status !== '') || isObject(reply?.error);
    if (reply && !failed) {
      const body = chatComplete.fromProvider?.(reply, lineCall) ?? reply;
      yield outputLine(id, customId, { response: { status_code: 200, request_id: id, body }, error: null });
    } else {
      yield outputLine(id, customId, { response: null, error: { code: 'failed', message: messageOf(line, reply) } });
    }
  }
}

function messageOf(line: JsonObject, reply: JsonObject | null): unknown {
  const error = isObject(line.error) ? line.error : isObject(reply?.error) ? reply.error : {};
  return line.status || error.message || 'the provider returned no result';
}

/** Some models return their reply as JSON inside a text. */
function replyOf(response: unknown): JsonObject | null {
  if (isObject(response)) return Object.keys(response).length === 0 ? null : response;
  return typeof response === 'string' ? parseObject(response) : null;
}

/** Values of labels have at most 63 characters. */
const digitsOfLabel = 62;

function labelsOf(customId: string): JsonObject {
  const digits = Buffer.from(customId).toString('hex');
  const labels: JsonObject = {};
  for (let i = 0; i * digitsOfLabel < digits.length; i++) {
    labels[`svc_id_${i}`] = digits.slice(i * digitsOfLabel, (i + 1) * digitsOfLabel);
  }
  return labels;
}

function idOfLabels(labels: unknown): string | null {
  if (!isObject(labels)) return null;
  let digits = '';
  for (let i = 0; typeof labels[`svc_id_${i}`] === 'string'; i++) digits += labels[`svc_id_${i}`];
  return digits === '' ? null : Buffer.from(digits, 'hex').toString('utf8');
}

function jsonLine(line: JsonObject): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
