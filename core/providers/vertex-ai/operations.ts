import type { OperationCall } from '../../contract/provider/provider.ts';
import { anthropicChat } from '../../formats/anthropic/chat-completions.ts';
import { anthropicChatExtras } from '../../formats/anthropic/chat-extras.ts';
import { anthropicCountTokens, anthropicMessages } from '../../formats/anthropic/messages.ts';
import { geminiChat } from '../../formats/gemini/chat/chat-completions.ts';
import { geminiChatExtras } from '../../formats/gemini/chat/chat-extras.ts';
import { geminiCountTokens } from '../../formats/gemini/count-tokens.ts';
import { countOrEstimate, estimatedTokenCount } from '../../translate/estimated-token-count.ts';
import { messagesOverChat } from '../../translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { locationPath } from './address.ts';
import { byFamily } from './by-family.ts';
import { openAiChat } from './chat.ts';
import { overCountTokens, overRawPredict } from './claude.ts';
import { withLabels } from './labels.ts';
import { type VertexModel, vertexModel } from './models.ts';

const id = 'vertex-ai';

const modelPath = (call: OperationCall): string => locationPath(call.settings, vertexModel(call.model).path);
const gemini = withLabels(geminiChat(id, modelPath, { isGeminiApi: false }));
const geminiMessages = messagesOverChat(gemini, geminiChatExtras);

export const chatComplete = byFamily({ gemini, claude: overRawPredict(anthropicChat(id)), chat: openAiChat });

const extras: Readonly<Record<VertexModel['family'], readonly ChatExtra[]>> = {
  gemini: geminiChatExtras,
  claude: anthropicChatExtras,
  chat: [],
};

/** Returns the fields beyond OpenAI's that chat calls accept, by the maker of the model. */
export const chatExtras = (call: OperationCall): readonly ChatExtra[] => extras[vertexModel(call.model).family];

/** Native for Claude, over chat completions for other models. */
export const messages = byFamily({
  gemini: geminiMessages,
  claude: overRawPredict(anthropicMessages(id)),
  chat: messagesOverChat(openAiChat),
});

/** Other makers' models have no token count on Vertex AI. */
export const messagesCountTokens = countOrEstimate(
  (call) => vertexModel(call.model).family !== 'chat',
  byFamily({
    gemini: geminiCountTokens(id, geminiMessages, modelPath),
    claude: overCountTokens(anthropicCountTokens),
    chat: estimatedTokenCount,
  }),
);
