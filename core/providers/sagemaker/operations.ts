import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamTranslator } from '../../contract/provider/stream-event.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import type { ChatQuirks } from '../../formats/openai/chat-quirks.ts';
import { completions } from '../../formats/openai/completions.ts';
import { embeddings } from '../../formats/openai/embeddings.ts';
import { payloadStream } from './payload-stream.ts';

/** Servers of open models use the older parameter names, which all of them support. */
const container: ChatQuirks = {
  renames: { max_completion_tokens: 'max_tokens' },
  developerAsSystem: true,
  ownFinishReasons: true,
};

/** Chat, completions and embeddings of containers that take OpenAI's bodies at `/invocations` (vLLM, SGLang, LMI, TGI). */
export const chatComplete = invoked(chatCompletions('sagemaker', container, invocationPath));
export const complete = invoked(completions('sagemaker', container, invocationPath));
export const embed = invoked(embeddings('sagemaker', invocationPath));

/** Adapts an operation to its endpoint: the container's name for its model, and framed streams. */
function invoked(operation: Operation): Operation {
  return {
    ...operation,
    toProvider: (params, call) => withContainerModel(operation.toProvider?.(params, call) ?? params, call),
    ...(operation.translateStream
      ? { decodeStream: payloadStream, translateStream: (call) => operation.translateStream?.(call) ?? asItIs }
      : {}),
  };
}

/** Frames must become events even if nothing in them changes. */
const asItIs: StreamTranslator = { push: (event) => [event], end: () => [] };

/** https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointWithResponseStream.html */
function invocationPath({ model, stream }: OperationCall): string {
  if (!/^[A-Za-z0-9](-*[A-Za-z0-9]){0,62}$/.test(model)) throw badParam('model', 'the name of a SageMaker endpoint is expected');
  return `/endpoints/${model}/${stream ? 'invocations-response-stream' : 'invocations'}`;
}

/**
 * The caller's model names the endpoint. Containers reject a model they do not serve and accept a body without one, so the body
 * has `amzn_sagemaker_model_name` or none.
 */
function withContainerModel(params: JsonObject, { settings }: OperationCall): JsonObject {
  const { model: _endpoint, ...body } = params;
  const name = settings.amzn_sagemaker_model_name;
  return typeof name === 'string' && name !== '' ? { model: name, ...body } : body;
}
