import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { callOfLine, readJsonLines } from './batch-lines.ts';

/**
 * Yields the lines of a training file in the provider's form while they are read. `toExample` receives a call with the messages
 * of a line in OpenAI's form. Other lines stay unchanged. Throws `bad_request` naming `param`.
 */
export async function* trainingLines(
  file: AsyncIterable<Uint8Array>,
  param: string,
  call: OperationCall,
  toExample: (line: OperationCall) => JsonObject,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const line of readJsonLines(file, param)) {
    count++;
    // Lines in Bedrock's own format also have messages, and name their format.
    const isForeign = !Array.isArray(line.messages) || line.schemaVersion !== undefined;
    const { messages } = line;
    const example = isForeign ? line : toExample(callOfLine(call, { model: call.params.model, messages }));
    yield Buffer.from(`${JSON.stringify(example)}\n`);
  }
  if (count === 0) throw badParam(param, 'the file has no lines');
}

/**
 * Returns `n_epochs`, `batch_size` and `learning_rate_multiplier` of a supervised fine-tuning job, from `method` or the older
 * `hyperparameters`. Throws `bad_request` for any other method.
 */
export function supervisedHyperparameters(params: JsonObject, provider: string): JsonObject {
  const { method, hyperparameters } = params;
  if (!isObject(method)) return isObject(hyperparameters) ? hyperparameters : {};
  if (method.type !== undefined && method.type !== 'supervised') {
    throw badParam('method.type', `${provider} supports supervised fine-tuning on this route. Use /v1/proxy/… for other methods`);
  }
  const { supervised } = method;
  return [isObject(supervised) ? supervised.hyperparameters : undefined, hyperparameters].find(isObject) ?? {};
}
