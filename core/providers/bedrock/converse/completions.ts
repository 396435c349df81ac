import type { Operation } from '../../../contract/provider/provider.ts';
import { completionsOverChat } from '../../../translate/completions-over-chat.ts';
import { chatComplete } from './chat-completions.ts';

/** Translates text completions to the Converse API. */
export const complete: Operation = completionsOverChat(chatComplete, 'bedrock');
