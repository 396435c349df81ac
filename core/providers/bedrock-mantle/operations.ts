import type { OperationCall } from '../../contract/provider/provider.ts';
import { anthropicChat } from '../../formats/anthropic/chat-completions.ts';
import { anthropicChatExtras } from '../../formats/anthropic/chat-extras.ts';
import { withCloudBetas } from '../../formats/anthropic/cloud-betas.ts';
import { anthropicCountTokens, anthropicMessages } from '../../formats/anthropic/messages.ts';
import { claudeOrChat } from '../../formats/claude-or-chat.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import { responses } from '../../formats/openai/responses.ts';
import { pickFormat } from '../../formats/pick-format.ts';
import { chatOrResponses, sealedReasoning } from '../../translate/chat-over-responses/chat-over-responses.ts';
import { withCustomTools, withCustomToolsInResponses } from '../../translate/custom-tools/custom-tools.ts';
import { countOrEstimate } from '../../translate/estimated-token-count.ts';
import { messagesOverChat } from '../../translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { responsesOverChat } from '../../translate/responses-over-chat/responses-over-chat.ts';

const id = 'bedrock-mantle';

/** Anthropic's models, which support Anthropic's format only. */
const isClaude = ({ model }: OperationCall): boolean => /(^|[./])anthropic\.|claude/i.test(model);

/** OpenAI's own closed models. Their path is `/openai/v1` and they have only the Responses API (model cards, 2026-06-01). */
const isFrontier = ({ model }: OperationCall): boolean => /(^|\/)openai\.gpt-(?!oss)/i.test(model);

const pathOf =
  (path: string) =>
  (call: OperationCall): string =>
    `${isFrontier(call) ? '/openai' : ''}/v1${path}`;
const claudePath = (): string => '/anthropic/v1/messages';

function byResponses(call: OperationCall): boolean {
  const { use_responses_api: asked } = call.settings;
  return typeof asked === 'boolean' ? asked : isFrontier(call);
}

const claudeChat = { ...anthropicChat(id), path: claudePath };
const ownResponses = responses(id, pathOf('/responses'));
const otherChat = chatOrResponses(
  id,
  byResponses,
  chatCompletions(id, { ownFinishReasons: true }, pathOf('/chat/completions')),
  ownResponses,
);
const otherExtras = sealedReasoning(byResponses);

export const chatComplete = withCloudBetas(withCustomTools(claudeOrChat(isClaude, claudeChat, otherChat), isFrontier), isClaude);

export const messages = withCloudBetas(
  claudeOrChat(isClaude, { ...anthropicMessages(id), path: claudePath }, messagesOverChat(otherChat, otherExtras)),
  isClaude,
);

export const messagesCountTokens = countOrEstimate(
  isClaude,
  withCloudBetas({ ...anthropicCountTokens, path: () => `${claudePath()}/count_tokens` }),
);

/** Returns the fields beyond OpenAI's that chat calls accept, by the maker of the model. */
export const chatExtras = (call: OperationCall): readonly ChatExtra[] =>
  isClaude(call) ? anthropicChatExtras : otherExtras(call);

const customResponses = withCustomToolsInResponses(ownResponses, isFrontier);
const claudeResponses = responsesOverChat(withCustomTools(claudeChat), anthropicChatExtras);

export const createModelResponse = withCloudBetas(
  pickFormat({ responses: customResponses, claude: claudeResponses }, 'responses', {
    ofCall: (call) => (isClaude(call) ? 'claude' : 'responses'),
    ofReply: ({ type }) => (type === 'message' ? 'claude' : 'responses'),
    ofEvent({ type }) {
      if (type === 'message_start') return 'claude';
      return typeof type === 'string' && type.startsWith('response.') ? 'responses' : null;
    },
  }),
  isClaude,
);
