import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { callOfLine, outputLine, readJsonLines } from '../../../formats/stored/batch-lines.ts';
import { chatComplete } from '../converse/chat-completions.ts';
import { embed } from '../embeddings/embeddings.ts';

/** Endpoints of batches, with the conversion of their lines and the service's interface for them. */
export const batchEndpoints: Readonly<
  Record<string, { readonly word: string; readonly operation: Operation; readonly type: 'Converse' | 'InvokeModel' }>
> = {
  '/v1/chat/completions': { word: 'chat', operation: chatComplete, type: 'Converse' },
  '/v1/embeddings': { word: 'embed', operation: embed, type: 'InvokeModel' },
};

/** Folder of batches that the gateway creates. */
export const batchFolder = 'svc-batches/';

/** Name of an input file. It holds the endpoint and model of the output file, which has the same name. */
export function inputName(word: string, model: string): string {
  return `${word}.${Buffer.from(model).toString('base64url')}.jsonl`;
}

/** Reads the endpoint and model from the name of an input or output file; null for files that the gateway did not create. */
export function batchOfKey(key: string): { endpoint: string; model: string } | null {
  const [, word, model] = /^svc-batches\/.*\/?(?<=\/)([a-z]+)\.([\w-]+)\.jsonl(?:\.out)?$/.exec(key) ?? [];
  const endpoint = Object.keys(batchEndpoints).find((name) => batchEndpoints[name]?.word === word);
  return endpoint === undefined || model === undefined
    ? null
    : { endpoint, model: Buffer.from(model, 'base64url').toString('utf8') };
}

/**
 * Returns the lines of results in OpenAI's form (docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html); null
 * if the key is not that of results of a batch that the gateway created.
 */
export function outputLines(
  key: string,
  results: AsyncIterable<Uint8Array>,
  call: OperationCall,
): AsyncIterable<Uint8Array> | null {
  const batch = key.endsWith('.out') ? batchOfKey(key) : null;
  return batch && toLines(results, call, batch);
}

async function* toLines(
  results: AsyncIterable<Uint8Array>,
  call: OperationCall,
  { endpoint, model }: { endpoint: string; model: string },
): AsyncGenerator<Uint8Array> {
  const operation = batchEndpoints[endpoint]?.operation;
  for await (const line of readJsonLines(results)) {
    const id = call.newId('batch_req_');
    const output = line.modelOutput;
    if (isObject(output)) {
      const body = operation?.fromProvider?.(output, callOfLine(call, { model })) ?? output;
      yield outputLine(id, line.recordId, { response: { status_code: 200, request_id: id, body }, error: null });
    } else yield outputLine(id, line.recordId, { response: null, error: errorOf(line.error) });
  }
}

function errorOf(error: unknown): JsonObject {
  const { errorCode: code, errorMessage: message }: JsonObject = isObject(error) ? error : {};
  return { code: code === undefined ? 'failed' : String(code), message: message ?? 'the provider returned no result' };
}
