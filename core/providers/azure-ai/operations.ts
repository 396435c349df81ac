import type { OperationCall } from '../../contract/provider/provider.ts';
import { anthropicChat } from '../../formats/anthropic/chat-completions.ts';
import { anthropicChatExtras } from '../../formats/anthropic/chat-extras.ts';
import { anthropicCountTokens, anthropicMessages } from '../../formats/anthropic/messages.ts';
import { claudeOrChat } from '../../formats/claude-or-chat.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import type { ChatQuirks } from '../../formats/openai/chat-quirks.ts';
import { completions } from '../../formats/openai/completions.ts';
import { embeddings } from '../../formats/openai/embeddings.ts';
import { withNewerLimit } from '../../formats/openai/output-limit.ts';
import { withCustomTools } from '../../translate/custom-tools/custom-tools.ts';
import { countOrEstimate } from '../../translate/estimated-token-count.ts';
import { messagesOverChat } from '../../translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { chatPath, claudePath, isInferenceApi } from './address.ts';
import { forDeployment } from './deployment.ts';

const id = 'azure-ai';
const quirks: ChatQuirks = {
  developerAsSystem: true,
  ownFinishReasons: true,
  request: (params, call) =>
    isInferenceApi(call.settings) ? params : withNewerLimit(params, call, [call.model, call.settings.azure_deployment_name]),
};
const pathOf =
  (path: string) =>
  (call: OperationCall): string =>
    chatPath(call.settings, path);

const otherChat = forDeployment(chatCompletions(id, quirks, pathOf('/chat/completions')));
const claudeMessages = (call: OperationCall): string => claudePath(call.settings, '/messages');

export const chatComplete = withCustomTools(
  claudeOrChat(isClaude, forDeployment({ ...anthropicChat(id), path: claudeMessages }), otherChat),
  isOpenAi,
);

export const messages = claudeOrChat(
  isClaude,
  forDeployment({ ...anthropicMessages(id), path: claudeMessages }),
  messagesOverChat(otherChat),
);

export const messagesCountTokens = countOrEstimate(
  isClaude,
  forDeployment({ ...anthropicCountTokens, path: (call) => claudePath(call.settings, '/messages/count_tokens') }),
);

/** Returns the fields beyond OpenAI's that chat calls accept, by the maker of the model. */
export const chatExtras = (call: OperationCall): readonly ChatExtra[] => (isClaude(call) ? anthropicChatExtras : []);

export const complete = forDeployment(completions(id, quirks, pathOf('/completions')));

export const embed = forDeployment(embeddings(id, pathOf('/embeddings')));

/** Anthropic's models have an API of their own on the same resource. */
function isClaude(call: OperationCall): boolean {
  return isNamed(/claude/i, call);
}

/** OpenAI's own models, which accept custom tools in OpenAI's API. */
function isOpenAi(call: OperationCall): boolean {
  return isNamed(/gpt-(?!oss)/i, call) && !isInferenceApi(call.settings);
}

function isNamed(name: RegExp, { model, settings }: OperationCall): boolean {
  return name.test(model) || name.test(String(settings.azure_deployment_name ?? ''));
}
