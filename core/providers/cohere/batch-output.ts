import { pipeline, Readable } from 'node:stream';
import type { Operation, OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn, parseObject } from '../../contract/values/json/json.ts';
import { callOfLine, outputLine } from '../../formats/stored/batch-lines.ts';
import { chatReply } from './chat-reply.ts';
import { embed } from './embeddings.ts';

/** Host that stores the provider's datasets. Its links are signed; links to other hosts are not followed. */
const storage = 'https://storage.googleapis.com';

/**
 * Yields the rows of an output dataset as OpenAI's lines. Its parts are Avro object container files
 * (https://avro.apache.org/docs/1.11.1/specification/#object-container-files) with `custom_id`, `body` and `error`.
 */
export function outputLines(
  call: OperationCall,
  services: StepServices,
  dataset: JsonObject,
  model: unknown,
): AsyncGenerator<Uint8Array> {
  const parts = objectsIn(dataset.dataset_parts);
  const links = parts.map((part) => linkOf(part.url, call));
  return written(links, services, callOfLine(call, { model: typeof model === 'string' ? model : '' }));
}

async function* written(links: readonly URL[], services: StepServices, call: OperationCall): AsyncGenerator<Uint8Array> {
  for (const { origin, pathname, search } of links) {
    const part = await services.send({ method: 'GET', origin, path: pathname + search, withoutCredential: true });
    if (part.status >= 300) throw await services.error(part);
    for await (const row of rowsOf(part.body)) yield lineOf(row, call);
  }
}

async function* rowsOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject> {
  // Loaded when it is used first: few installations read batches of Cohere.
  const { default: avro } = await import('avsc');
  const decoder = new avro.streams.BlockDecoder();
  pipeline(Readable.from(bytes, { objectMode: false }), decoder, () => {});
  try {
    for await (const row of decoder) if (isObject(row)) yield row;
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError('upstream_invalid', { message: 'The output of the batch cannot be read', cause: thrown });
  }
}

function lineOf(row: JsonObject, call: OperationCall): Uint8Array {
  const id = call.newId('batch_req_');
  const body = objectOf(row.body);
  const error = objectOf(row.error);
  const message = error?.message ?? (typeof row.error === 'string' ? row.error : '');
  if (body === null || message !== '') {
    return outputLine(id, row.custom_id, { response: null, error: { code: error?.code ?? 'failed', message: String(message) } });
  }
  const reply = 'embeddings' in body ? (embed.fromProvider as Reply)(body, call) : withBilledUnits(chatReply(body, call), body);
  return outputLine(id, row.custom_id, {
    response: { status_code: 200, request_id: String(body.id ?? ''), body: reply },
    error: null,
  });
}

/** Adds the billed units to the usage of a line, because the cost of the batch is computed from its lines. */
function withBilledUnits(reply: JsonObject, { usage }: JsonObject): JsonObject {
  if (!isObject(reply.usage) || !isObject(usage) || !isObject(usage.billed_units)) return reply;
  return { ...reply, usage: { ...reply.usage, billed_units: usage.billed_units } };
}

type Reply = NonNullable<Operation['fromProvider']>;

/** Returns an object, given as object or as its JSON text. */
function objectOf(value: unknown): JsonObject | null {
  if (isObject(value)) return { ...value };
  return typeof value === 'string' ? parseObject(value) : null;
}

function linkOf(given: unknown, call: OperationCall): URL {
  const url = URL.parse(typeof given === 'string' ? given : '');
  const own = URL.parse(typeof call.settings.custom_host === 'string' ? call.settings.custom_host : '');
  if (url !== null && (url.origin === storage || url.origin === own?.origin)) return url;
  throw new GatewayError('upstream_invalid', { message: 'The output of the batch has an unknown location' });
}
