import type { Operation } from '../../contract/provider/provider.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';

/**
 * Chat completions of models with OpenAI's format. Llama and other open models share one path and have their publisher in the
 * name. Mistral's models use rawPredict. Servers on the customer's own endpoints are supported too.
 */
export const openAiChat: Operation = withModelName(
  chatCompletions('vertex-ai', { developerAsSystem: true, ownFinishReasons: true }, (call) => {
    const model = vertexModel(call.model);
    const method = model.family === 'chat' && model.raw ? `:${call.stream ? 'streamRawPredict' : 'rawPredict'}` : '';
    return locationPath(call.settings, model.path + method);
  }),
);

function withModelName(operation: Operation): Operation {
  return {
    ...operation,
    toProvider(params, call) {
      const body = operation.toProvider?.(params, call) ?? params;
      const { name } = vertexModel(call.model);
      return body.model === name ? body : { ...body, model: name };
    },
  };
}
