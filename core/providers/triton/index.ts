import type { Operation, OperationCall, ProviderAdapter } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamReader, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';
import { onePrompt } from '../../formats/one-prompt.ts';
import { providerError, streamError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { declaration } from './settings.ts';

const id = 'triton';

/** Fields sent in `parameters`. All other fields are sent beside `text_input`, as inputs of the model. */
const sampling = ['max_tokens', 'temperature', 'top_p', 'stop', 'seed', 'frequency_penalty', 'presence_penalty'];
/** Parameters that the generate endpoint lacks, with the value that has no effect. */
const lost: Readonly<Record<string, unknown>> = {
  best_of: 1,
  echo: false,
  logit_bias: null,
  logprobs: null,
  n: 1,
  stream_options: null,
  suffix: '',
  user: null,
};

/**
 * Text completions over the generate extension of Triton Inference Server
 * (https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_generate.html). See README.md.
 */
const complete: Operation = {
  path: (call) => `/v2/models/${encodeURIComponent(call.model)}/${call.stream ? 'generate_stream' : 'generate'}`,
  toProvider: toGenerate,
  fromProvider: (reply, call) => {
    const { text_output: text, model_name: model, model_version: _version, ...others } = reply;
    return { ...head(call, model), choices: [choice(text, 'stop')], ...others };
  },
  translateStream: toCompletionStream,
  // The extension counts no tokens.
  usage: () => null,
  streamReader: generateReader,
};

export const triton: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: ({ custom_host: host }) => {
    if (typeof host === 'string' && host !== '') return withoutTrailingSlashes(host).replace(/\/v2$/, '');
    throw new GatewayError('invalid_custom_host', {
      message:
        'Provider triton has no default address. Set custom_host, for example x-svc-custom-host: https://triton.example.com',
      param: 'custom_host',
    });
  },
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['authorization', `Bearer ${key.reveal()}`]),
  proxyPath: (path) => (/^\/(v2|metrics)(\/|$)/.test(path) ? path : `/v2${path}`),
  modelSources: { inPath: servedModel },
  operations: { complete },
  error: providerError(id),
};

/** Returns the model of `/models/<model>/infer`, also with a version (`/models/<model>/versions/<version>/generate`). */
function servedModel(path: string): string | null {
  const [, model] = /\/models\/+([^/]+)\/+(?:versions\/+[^/]+\/+)?(?:infer|generate|generate_stream)\/*$/.exec(path) ?? [];
  return model === undefined ? null : percentDecoded(model);
}

function toGenerate({ model: _model, prompt, stream, ...params }: JsonObject, call: OperationCall): JsonObject {
  const { parameters, ...inputs } = params;
  const given: JsonObject = isObject(parameters) ? { ...parameters } : {};
  for (const name of sampling) {
    if (inputs[name] !== undefined && inputs[name] !== null) given[name] ??= inputs[name];
    delete inputs[name];
  }
  for (const [name, nothing] of Object.entries(lost)) {
    if (name in inputs && inputs[name] !== null && inputs[name] !== nothing && name !== 'stream_options') call.dropped.push(name);
    delete inputs[name];
  }
  if (stream === true) given.stream = true;
  return { text_input: onePrompt(prompt, 'triton'), ...inputs, ...(Object.keys(given).length > 0 ? { parameters: given } : {}) };
}

/** Streams have no terminal event: the end of the stream is the end of the reply. */
function toCompletionStream(call: OperationCall): StreamTranslator {
  let first: JsonObject | null = null;
  return {
    push({ data }) {
      if (!isObject(data) || typeof data.text_output !== 'string') return [];
      first ??= head(call, data.model_name);
      return [{ event: null, data: { ...first, choices: [choice(data.text_output, null)] } }];
    },
    end: (): StreamEvent[] => [
      { event: null, data: { ...(first ?? head(call, call.model)), choices: [choice('', 'stop')] } },
      { event: null, data: '[DONE]' },
    ],
  };
}

function generateReader(): StreamReader {
  let seen = 0;
  let error: GatewayError | null = null;
  return {
    push({ data }) {
      if (!isObject(data)) return;
      if (data.error !== undefined) error ??= streamError(id, data.error);
      else if (data.text_output !== undefined) seen++;
    },
    usage: () => null,
    complete: () => error === null && seen > 0,
    error: () => error,
  };
}

function head(call: OperationCall, model: unknown): JsonObject {
  return {
    id: call.newId('cmpl-'),
    object: 'text_completion',
    created: call.nowSeconds,
    model: model ?? call.model,
    provider: id,
  };
}

function choice(text: unknown, finishReason: string | null): JsonObject {
  return { text: typeof text === 'string' ? text : '', index: 0, logprobs: null, finish_reason: finishReason };
}

export const adapters = [triton];
