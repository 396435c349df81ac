import type { Operation } from '../../../contract/provider/provider.ts';
import { claudeOrChat } from '../../../formats/claude-or-chat.ts';
import { messagesOverChat } from '../../../translate/messages-over-chat/messages-over-chat.ts';
import { claudeMessages } from '../claude/claude-messages.ts';
import { isClaude } from '../claude/claude-models.ts';
import { eventStream } from '../event-stream.ts';
import { chatComplete } from './chat-completions.ts';
import { converseExtras } from './chat-extras.ts';

/** Messages calls to models of other makers, over the Converse API. */
export const messagesOverConverse = messagesOverChat(chatComplete, converseExtras);

/** Messages calls. Claude models are called in their own format, all others (and ARNs without a model name) over Converse. */
export const messages: Operation = {
  ...claudeOrChat((call) => isClaude(call.model), claudeMessages, messagesOverConverse),
  decodeStream: eventStream,
};
