import { routeOfLines } from '../../contract/plugin/requests/batch-line.ts';
import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type BatchRequest, callOfLine } from '../../formats/stored/batch-lines.ts';
import { chatRequest } from './chat-request.ts';
import { embed } from './embeddings.ts';

/** A kind of batch: the dataset type of its input, and the conversion of a line's body from OpenAI's form. */
export interface BatchKind {
  readonly datasetType: string;
  readonly fields: ReadonlySet<string>;
  body(call: OperationCall): JsonObject;
}

/** By OpenAI's `endpoint`. The fields are those that lines may have, which are fewer than those of single calls. */
const batchKinds: Readonly<Record<string, BatchKind>> = byName({
  '/v1/chat/completions': {
    datasetType: 'batch-chat-v2-input',
    fields: new Set([
      ...['messages', 'tools', 'temperature', 'p', 'k', 'frequency_penalty', 'presence_penalty', 'reasoning', 'thinking_budget'],
      ...['logprobs', 'max_tokens', 'max_input_tokens', 'return_prompt', 'seed'],
    ]),
    body: (call) => withBatchFields(chatRequest(call.params, call)),
  },
  '/v1/embeddings': {
    datasetType: 'batch-embed-v2-input',
    fields: new Set(['texts', 'images', 'inputs', 'input_type', 'max_tokens', 'embedding_types', 'truncate']),
    body: (call) => (embed.toProvider as NonNullable<Operation['toProvider']>)(call.params, call),
  },
});

/** Returns the endpoint and kind of a batch, from `endpoint` or else from its first line. Throws `bad_request`. */
export function kindOf(endpoint: unknown, first: BatchRequest): readonly [string, BatchKind] {
  const named = String(endpoint ?? routeOfLines(first.url));
  const kind = batchKinds[named];
  if (kind) return [named, kind];
  throw badParam('endpoint', `cohere runs batches of ${Object.keys(batchKinds).join(' and ')}`);
}

/** Returns the model of these lines: that of the batch, or of the first line. Throws `bad_request` without a model. */
export function modelOf(call: OperationCall, beside: string | null, first: BatchRequest): string {
  const { model } = callOfLine(call, { model: beside ?? first.body.model });
  if (model !== '') return model;
  throw badParam('model', 'all lines of a batch of cohere have one model: in each of them, or beside the batch');
}

/** Yields the input of a batch in the provider's form while its requests are read. */
export async function* batchLines(
  first: BatchRequest,
  rest: AsyncIterable<BatchRequest>,
  kind: BatchKind,
  model: string,
  call: OperationCall,
): AsyncGenerator<Uint8Array> {
  yield batchLine(first, kind, model, call);
  for await (const request of rest) yield batchLine(request, kind, model, call);
}

function batchLine({ customId, body }: BatchRequest, kind: BatchKind, model: string, call: OperationCall): Uint8Array {
  const asked = callOfLine(call, body.model === undefined ? { ...body, model } : body);
  if (asked.model !== model) {
    throw badParam(`${customId.slice(0, 64)}: model`, 'all lines of a batch of cohere name one model, and the same');
  }
  const { model: _model, stream: _stream, ...line } = kind.body(asked);
  const unknown = Object.keys(line).find((name) => !kind.fields.has(name));
  if (unknown !== undefined) {
    const way = 'completion_window "immediate" runs the batch line by line instead';
    throw badParam(`${customId.slice(0, 64)}: ${unknown}`, `not supported in batches of cohere; ${way}`);
  }
  return Buffer.from(`${JSON.stringify({ custom_id: customId, body: line })}\n`);
}

/**
 * Batches write some fields of a chat call differently: contents are lists, links and schemas are texts, and reasoning is two
 * fields.
 */
function withBatchFields({ thinking, messages, tools, ...params }: JsonObject): JsonObject {
  const reasoning = isObject(thinking) ? thinking : null;
  return {
    ...params,
    messages: objectsIn(messages).map(({ content, ...message }) => ({
      ...message,
      ...(content === undefined || content === null ? {} : { content: partsOf(content) }),
    })),
    ...(tools === undefined ? {} : { tools: objectsIn(tools).map(withSchemaAsText) }),
    ...(reasoning ? { reasoning: reasoning.type !== 'disabled' } : {}),
    ...(reasoning?.token_budget === undefined ? {} : { thinking_budget: reasoning.token_budget }),
  };
}

function partsOf(content: unknown): unknown {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return objectsIn(content).map((part) => (isObject(part.image_url) ? { ...part, image_url: part.image_url.url } : part));
}

function withSchemaAsText(tool: JsonObject): JsonObject {
  const fn = isObject(tool.function) ? tool.function : {};
  return isObject(fn.parameters) ? { ...tool, function: { ...fn, parameters: JSON.stringify(fn.parameters) } } : tool;
}
