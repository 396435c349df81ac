import { operationOfLines } from '../contract/plugin/requests/batch-line.ts';
import type { BatchUsageQuestion, BatchUsageReply } from '../contract/provider/batch-usage.ts';
import type { Operation, OperationCall, StepReply, StepServices } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../contract/values/json/line-limits.ts';
import { roughTokens } from '../contract/values/models/prompt-text.ts';
import type { Usage } from '../contract/values/models/usage.ts';
import { lineTooLong, textLines } from '../contract/values/text/text-lines.ts';
import type { ConnectionTestOptions } from '../control-plane/test-connection.ts';
import { openSteps } from '../pipeline/attempt/step-services.ts';
import { buildOpened, openDocument } from '../pipeline/target/open-document.ts';
import { senderOf } from '../pipeline/target/sender-of.ts';
import { UsageSums } from './sum-usage.ts';

export interface BatchUsageOptions extends Omit<ConnectionTestOptions, 'clusterKey'> {
  /** Returns the tokens of one reply in the output, in any of the formats of batches. */
  usageOf(reply: JsonObject): Usage | null;
  readonly now: () => number;
  readonly newId: () => string;
  /** Aborted when the caller no longer waits for the result. */
  readonly signal: AbortSignal;
}

const lineCharactersMax = 64 * 1024 * 1024;
const namesMax = 100;
const timeouts = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 0 };
const over: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/**
 * Returns the usage of a finished batch. Reads its output from the provider line by line, with the operations that clients use.
 * Rejects with GatewayError if the provider cannot be called.
 */
export async function readBatchUsage(asked: BatchUsageQuestion, options: BatchUsageOptions): Promise<BatchUsageReply> {
  const { adapterOf, build } = options.builder;
  const { document, credentials: opened, headers } = await openDocument(asked.document, options);
  const given = { ...document.settings, ...asked.settings };
  const listed = adapterOf(document.provider);
  const resolved = buildOpened(document, () => build(listed, document.slug, given, opened, headers));
  const { adapter, settings, credentials, origin } = resolved;
  const { services, abort } = openSteps({
    resolved,
    call: { tenant: document.organisationId, origin, path: '', method: 'GET', headers: [], body: null, timeouts },
    sender: senderOf(resolved, options.transport),
    ownStore: null,
    countTokens: async (texts) => roughTokens(texts),
    sign: async (call) => {
      await adapter.sign?.(call, settings, credentials, options.sign);
      return timeouts;
    },
    caller: null,
    isLeft: () => options.signal.aborted,
    body: () => nothing(),
  });
  options.signal.addEventListener('abort', abort);
  const call: OperationCall = {
    ...{ model: '', stream: false, params: {}, query: '', settings, strict: true, dropped: [], adapted: [] },
    pathParams: { id: /^[\w.%:-]+$/.test(asked.batchId) ? asked.batchId : encodeURIComponent(asked.batchId) },
    header: () => undefined,
    nowSeconds: Math.floor(options.now() / 1000),
    newId: (prefix) => prefix + options.newId(),
  };
  try {
    const batch = await batchOf(adapter.operations.retrieveBatch, call, services);
    if (batch === null) return { state: 'gone', parts: [] };
    if (!over.has(batch.status)) return { state: 'running', parts: [] };
    const names = await modelsAsked(batch, adapter.operations.createBatch, call, services);
    const sums = new UsageSums(operationOfLines(batch.endpoint));
    const output = await outputOf(adapter.operations.getBatchOutput, call, services);
    for await (const line of linesOf(output)) {
      const reply = isObject(line.response) ? line.response.body : null;
      const usage = isObject(reply) ? options.usageOf(reply) : null;
      if (usage && isObject(reply)) sums.add(nameOf(reply.model, names), usage);
    }
    return { state: 'ended', parts: [...sums.parts] };
  } finally {
    options.signal.removeEventListener('abort', abort);
    abort();
  }
}

async function batchOf(
  operation: Operation | undefined,
  call: OperationCall,
  services: StepServices,
): Promise<JsonObject | null> {
  if (!operation) return null;
  try {
    if (operation.steps) return (await operation.steps(call, services)).body as JsonObject;
    const headers = operation.headers?.(call) ?? [];
    const response = await services.send({ method: operation.method ?? 'GET', path: operation.path(call), headers });
    if (response.status >= 300) throw await services.error(response);
    const reply = await response.json();
    return operation.fromProvider?.(reply, call) ?? reply;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 404) return null;
    throw error;
  }
}

/** Yields nothing if there is no output: the batch failed, or was cancelled before its first result. */
async function outputOf(
  operation: Operation | undefined,
  call: OperationCall,
  services: StepServices,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    const reply: StepReply | undefined = await operation?.steps?.(call, services);
    return reply && Symbol.asyncIterator in reply.body ? (reply.body as AsyncIterable<Uint8Array>) : nothing();
  } catch (error) {
    if (error instanceof GatewayError && (error.code === 'bad_request' || error.status === 404)) return nothing();
    throw error;
  }
}

/**
 * Returns the models as the batch requested them: prices are saved under these names, while results carry longer ones. Read from
 * the requests beside the results, or from the input file if it still exists.
 */
async function modelsAsked(
  batch: JsonObject,
  creation: Operation | undefined,
  call: OperationCall,
  services: StepServices,
): Promise<ReadonlySet<string>> {
  if (typeof batch.model === 'string' && batch.model !== '') return new Set([batch.model]);
  const names = new Set<string>();
  if (!creation?.requestFiles || typeof batch.input_file_id !== 'string') return names;
  try {
    for (const path of creation.requestFiles({ input_file_id: batch.input_file_id }, call)) {
      const response = await services.send({ method: 'GET', path });
      if (response.status >= 300) throw await services.error(response);
      for await (const { body } of linesOf(response.body)) {
        if (isObject(body) && typeof body.model === 'string' && names.size < namesMax) names.add(body.model);
      }
    }
  } catch {
    // The input file was deleted or cannot be read. The names in the results are used instead.
  }
  return names;
}

/** Returns `gpt-4o-mini` for `gpt-4o-mini-2024-07-18` if the batch requested the former. */
function nameOf(named: unknown, asked: ReadonlySet<string>): string {
  const name = typeof named === 'string' ? named.slice(0, 255) : '';
  if (asked.size === 1 || asked.has(name)) return asked.has(name) ? name : ([...asked][0] as string);
  const shorter = [...asked].filter((one) => name.startsWith(`${one}-`));
  return shorter.sort((one, other) => other.length - one.length)[0] ?? name;
}

async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject> {
  for await (const text of textLines(source, lineCharactersMax)) {
    if (text === lineTooLong) throw new GatewayError('upstream_invalid', { message: 'A line of the output is too long' });
    if (hasTooManyValues(text))
      throw new GatewayError('upstream_invalid', { message: `The output cannot be read: ${tooManyValues}` });
    const line = parsed(text);
    if (isObject(line)) yield line;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
