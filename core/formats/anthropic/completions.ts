import type { Operation } from '../../contract/provider/provider.ts';
import { completionsOverChat } from '../../translate/completions-over-chat.ts';
import { anthropicChat } from './chat-completions.ts';

/** Translates text completions to the Messages API: the prompt is one user message, the reply's text the completion. */
export function anthropicCompletions(provider: string): Operation {
  return completionsOverChat(anthropicChat(provider), provider);
}
