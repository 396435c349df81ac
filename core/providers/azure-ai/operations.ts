import type { OperationCall } from '../../contract/provider.ts';
import { anthropicChat } from '../shared/anthropic/chat-completions.ts';
import { anthropicChatExtras } from '../shared/anthropic/chat-extras.ts';
import { anthropicMessages } from '../shared/anthropic/messages.ts';
import { chatCompletions } from '../shared/chat-completions.ts';
import { claudeOrChat } from '../shared/claude-or-chat.ts';
import { completions } from '../shared/completions.ts';
import { embeddings } from '../shared/embeddings.ts';
import { messagesOverChat } from '../shared/messages-over-chat.ts';
import type { ChatExtra } from '../shared/messages-over-chat-request.ts';
import { chatPath, claudePath } from './address.ts';
import { forDeployment } from './deployment.ts';

const id = 'azure-ai';
const quirks = { developerAsSystem: true, ownFinishReasons: true } as const;
const pathOf =
  (path: string) =>
  (call: OperationCall): string =>
    chatPath(call.settings, path);

const otherChat = forDeployment(chatCompletions(id, quirks, pathOf('/chat/completions')));
const claudeMessages = (call: OperationCall): string => claudePath(call.settings, '/messages');

export const chatComplete = claudeOrChat(isClaude, forDeployment({ ...anthropicChat(id), path: claudeMessages }), otherChat);

export const messages = claudeOrChat(
  isClaude,
  forDeployment({ ...anthropicMessages(id), path: claudeMessages }),
  messagesOverChat(otherChat),
);

/** What chat calls take beyond OpenAI's fields, by who made the model. */
export const chatExtras = (call: OperationCall): readonly ChatExtra[] => (isClaude(call) ? anthropicChatExtras : []);

export const complete = forDeployment(completions(id, quirks, pathOf('/completions')));

export const embed = forDeployment(embeddings(pathOf('/embeddings')));

/** Anthropic's models have an API of their own on the same resource. */
function isClaude(call: OperationCall): boolean {
  return /claude/i.test(call.model) || /claude/i.test(String(call.settings.azure_deployment_name ?? ''));
}
