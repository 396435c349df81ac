import { isOwnId } from '../../contract/provider/own-store.ts';
import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { chatReply } from '../../formats/anthropic/chat-reply.ts';
import { chatRequest } from '../../formats/anthropic/chat-request.ts';
import { badParam } from '../../formats/bad-param.ts';
import { uncounted } from '../../formats/never-streams.ts';
import { callOfLine, outputLine, readBatchRequests, readJsonLines } from '../../formats/stored/batch-lines.ts';
import { endpointOf, metadataOf, modelBesideLines } from '../../formats/stored/batch-plan.ts';
import { idOf, notReady } from '../../formats/stored/stored-files.ts';
import {
  askForJson,
  exchange,
  jsonReply,
  linesReply,
  secondsOf,
  storedOperation,
  wantsDetails,
} from '../../formats/stored/stored-operation.ts';
import { batchId, nativeId, rememberedAs } from './batch-id.ts';

/**
 * Message batches (https://docs.anthropic.com/en/api/creating-message-batches) in OpenAI's form. The input is a file of the
 * gateway's own store, because this provider's files cannot be read back. The lines of input and output are chat completions.
 */
export const createBatch: Operation = {
  ...storedOperation(async (call, services) => {
    const { input_file_id: file } = call.params;
    if (!isOwnId(file)) throw badParam('input_file_id', 'a file of the service is expected (svc_file_…)');
    const remembered = { input_file_id: file as string, metadata: metadataOf(call) };
    if (endpointOf(call) !== '/v1/chat/completions') throw badParam('endpoint', 'anthropic runs batches of /v1/chat/completions');
    const response = await exchange(services, {
      method: 'POST',
      path: '/messages/batches',
      headers: ['content-type', 'application/json'],
      body: requestsOf(services.ownFile(file as string), call),
    });
    const batch = toBatch(await response.json());
    const id = batchId(batch.id, remembered, call);
    return jsonReply({ ...batch, ...remembered, id, ...(call.dropped.includes('metadata') ? { metadata: null } : {}) });
  }),
  takesOwnFiles: true,
  checksLines: true,
};

export const retrieveBatch: Operation = {
  path: (call) => batchPath(call),
  fromProvider: (reply, call) => ({
    ...rememberedAs(toBatch(reply), call),
    ...(wantsDetails(call) ? { provider_details: reply } : {}),
  }),
  ...uncounted,
};

export const cancelBatch: Operation = {
  path: (call) => `${batchPath(call)}/cancel`,
  fromProvider: (reply, call) => rememberedAs(toBatch(reply), call),
  ...uncounted,
};

export const listBatches: Operation = {
  path: (call) => `/messages/batches${listQuery(call)}`,
  fromProvider: (reply) => {
    const data = Array.isArray(reply.data) ? reply.data.filter(isObject).map(toBatch) : [];
    return {
      object: 'list',
      data,
      first_id: reply.first_id ?? null,
      last_id: reply.last_id ?? null,
      has_more: reply.has_more === true,
    };
  },
  ...uncounted,
};

export const getBatchOutput: Operation = storedOperation(async (call, services) => {
  const batch = await askForJson(services, 'GET', batchPath(call));
  if (batch.processing_status !== 'ended') throw notReady({ status: toBatch(batch).status });
  const results = await exchange(services, { method: 'GET', path: `${batchPath(call)}/results` });
  return linesReply(linesOf(results.body, call));
});

function batchPath(call: OperationCall): string {
  return `/messages/batches/${nativeId(idOf(call), 'id')}`;
}

/** Yields `{"requests": […]}` while the file is read. */
async function* requestsOf(file: AsyncIterable<Uint8Array>, call: OperationCall): AsyncGenerator<Uint8Array> {
  let separator = '{"requests":[';
  const model = modelBesideLines(call);
  for await (const { customId, body } of readBatchRequests(file, call)) {
    if (!/^[\w-]{1,64}$/.test(customId)) {
      throw badParam('custom_id', `${customId.slice(0, 64)}: anthropic takes at most 64 letters, digits, _ and -`);
    }
    const line = callOfLine(call, body.model === undefined ? { ...body, model } : body);
    yield Buffer.from(separator + JSON.stringify({ custom_id: customId, params: chatRequest(line.params, line) }));
    separator = ',';
  }
  if (separator !== ',') throw badParam('input_file_id', 'the file has no requests');
  yield Buffer.from(']}');
}

async function* linesOf(results: AsyncIterable<Uint8Array>, call: OperationCall): AsyncGenerator<Uint8Array> {
  for await (const line of readJsonLines(results)) {
    const result = isObject(line.result) ? line.result : {};
    const id = call.newId('batch_req_');
    if (result.type === 'succeeded' && isObject(result.message)) {
      const body = chatReply(result.message, callOfLine(call, { model: result.message.model }), 'anthropic');
      yield outputLine(id, line.custom_id, {
        response: { status_code: 200, request_id: String(result.message.id ?? ''), body },
        error: null,
      });
    } else {
      yield outputLine(id, line.custom_id, { response: null, error: errorOf(result) });
    }
  }
}

function errorOf(result: JsonObject): JsonObject {
  const outer = isObject(result.error) ? result.error : {};
  const inner = isObject(outer.error) ? outer.error : outer;
  const kind = String(result.type ?? 'errored');
  return {
    code: kind === 'errored' ? (inner.type ?? 'errored') : `batch_${kind === 'canceled' ? 'cancelled' : kind}`,
    message: inner.message ?? kind,
  };
}

/**
 * Converts a message batch to OpenAI's form. Fields that the provider does not store (the input file, metadata) are null: see
 * `batch-id.ts`.
 */
function toBatch(given: JsonObject): JsonObject {
  const counts = isObject(given.request_counts) ? given.request_counts : {};
  const count = (name: string): number => (typeof counts[name] === 'number' ? (counts[name] as number) : 0);
  const failed = count('errored') + count('canceled') + count('expired');
  const status = statusOf(given, count);
  const ended = secondsOf(given.ended_at);
  return {
    id: given.id,
    object: 'batch',
    endpoint: '/v1/chat/completions',
    errors: null,
    input_file_id: null,
    completion_window: '24h',
    status,
    output_file_id: null,
    error_file_id: null,
    created_at: secondsOf(given.created_at),
    in_progress_at: secondsOf(given.created_at),
    expires_at: secondsOf(given.expires_at),
    finalizing_at: null,
    completed_at: status === 'completed' ? ended : null,
    failed_at: null,
    expired_at: status === 'expired' ? ended : null,
    cancelling_at: secondsOf(given.cancel_initiated_at),
    cancelled_at: status === 'cancelled' ? ended : null,
    request_counts: { total: count('processing') + count('succeeded') + failed, completed: count('succeeded'), failed },
    metadata: null,
  };
}

function statusOf(given: JsonObject, count: (name: string) => number): string {
  if (given.processing_status === 'canceling') return 'cancelling';
  if (given.processing_status !== 'ended') return 'in_progress';
  if (count('canceled') > 0) return 'cancelled';
  return count('expired') > 0 && count('succeeded') === 0 ? 'expired' : 'completed';
}

/** `after` is named `after_id`. */
function listQuery(call: OperationCall): string {
  const asked = new URLSearchParams(call.query);
  const query = new URLSearchParams();
  const limit = asked.get('limit');
  const after = asked.get('after');
  if (limit !== null) query.set('limit', limit);
  if (after !== null) query.set('after_id', nativeId(after, 'after'));
  return query.size === 0 ? '' : `?${query}`;
}
