import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { editForm } from '../../formats/media/image-content.ts';
import { imageGenerations, images } from '../../formats/media/images.ts';
import { speech } from '../../formats/media/speech.ts';
import { transcriptions } from '../../formats/media/transcriptions.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import { isChatOnly } from '../../formats/openai/chat-only.ts';
import type { ChatQuirks } from '../../formats/openai/chat-quirks.ts';
import { withUsageInStream } from '../../formats/openai/chat-request.ts';
import { completions } from '../../formats/openai/completions.ts';
import { embeddings } from '../../formats/openai/embeddings.ts';
import { unknownToOpenAi, withoutRefusedFields } from '../../formats/openai/message-fields.ts';
import { withNewerLimit } from '../../formats/openai/output-limit.ts';
import { responses, withReadableReasoning } from '../../formats/openai/responses.ts';
import { goesByResponses } from '../../formats/openai/responses-only.ts';
import { chatOrResponses } from '../../translate/chat-over-responses/chat-over-responses.ts';
import { completionsOrChat } from '../../translate/completions-over-chat.ts';
import { deploymentPath, responsesPath } from './address.ts';
import { deploymentOfCall, isSince, isVersionFree } from './deployments.ts';

const quirks: ChatQuirks = {};
const pathOf =
  (path: string) =>
  (call: OperationCall): string =>
    deploymentPath(call.settings, deploymentOfCall(call), path);

const ownChat: Operation = {
  ...chatCompletions('azure-openai', quirks, pathOf('/chat/completions')),
  toProvider: (params, call) => {
    const limited = withNewerLimit(withoutRefusedFields(params, unknownToOpenAi, call), call, namesOfModel(call));
    return forDeployment(withUsage(limited, call), call);
  },
};

const ownComplete: Operation = {
  ...completions('azure-openai', quirks, pathOf('/completions')),
  toProvider: (params, call) => forDeployment(withUsage(params, call), call),
};

export const embed: Operation = { ...embeddings('azure-openai', pathOf('/embeddings')), toProvider: forDeployment };

export const createModelResponse: Operation = {
  ...responses('azure-openai', (call) => responsesPath(call.settings, deploymentOfCall(call))),
  toProvider: (params, call) => withModel(withReadableReasoning(params, call), deploymentOfCall(call).deployment),
};

/** Customers choose the names of deployments, so only the alias table or the settings may name the model. */
function namesOfModel(call: OperationCall): unknown[] {
  const { deployment, model } = deploymentOfCall(call);
  return [call.model, deployment, model, call.settings.azure_model_name];
}

export function byResponses(call: OperationCall): boolean {
  return goesByResponses(call, namesOfModel(call));
}

export const chatComplete = chatOrResponses('azure-openai', byResponses, ownChat, createModelResponse);

export const complete = completionsOrChat(ownComplete, chatComplete, 'azure-openai', (call) =>
  namesOfModel(call).some((name) => typeof name === 'string' && isChatOnly(name)),
);

/** Forms name the deployment if the path does not. */
const modelInForm = (call: OperationCall): string => {
  const deployment = deploymentOfCall(call);
  return isVersionFree(deployment) ? deployment.deployment : call.model;
};

export const createSpeech: Operation = { ...speech('azure-openai', pathOf('/audio/speech')), toProvider: forDeployment };
export const createTranscription: Operation = {
  ...transcriptions('azure-openai', pathOf('/audio/transcriptions')),
  modelInForm,
};
export const createTranslation: Operation = { ...transcriptions('azure-openai', pathOf('/audio/translations')), modelInForm };
export const imageGenerate: Operation = {
  ...imageGenerations('azure-openai', pathOf('/images/generations')),
  toProvider: forDeployment,
};
export const imageEdit: Operation = {
  ...images('azure-openai', pathOf('/images/edits')),
  modelInForm,
  takesForms: true,
  // Edits are forms at this provider, even if the client sent JSON.
  toContent: (params, call) => {
    if (call.form) return null;
    call.adapted.push('json->form');
    return { kind: 'form', parts: editForm(withModel(params, modelInForm(call)), call) };
  },
};

/** Requests token counts in streams. The API accepts that since 2024-09-01 and refuses it for chats over one's own data. */
function withUsage(params: JsonObject, call: OperationCall): JsonObject {
  if ('data_sources' in params || !isSince(deploymentOfCall(call), '2024-09-01')) return params;
  return withUsageInStream(params, quirks);
}

/** Dated paths name the deployment and ignore the body's model. The version-free API uses the model only. */
function forDeployment(params: JsonObject, call: OperationCall): JsonObject {
  const deployment = deploymentOfCall(call);
  return isVersionFree(deployment) ? withModel(params, deployment.deployment) : params;
}

function withModel(params: JsonObject, deployment: string): JsonObject {
  return params.model === deployment ? params : { ...params, model: deployment };
}
