import type { Operation } from '../../contract/provider/provider.ts';
import { completionsOverChat } from '../../translate/completions-over-chat.ts';
import { chatComplete } from './chat-completions.ts';

/** A text completion answered from the Converse API. */
export const complete: Operation = completionsOverChat(chatComplete, 'bedrock');
