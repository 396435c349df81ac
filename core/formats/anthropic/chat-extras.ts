import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';

/** What chat calls answered from the Messages API take beyond OpenAI's fields: signed thoughts survive, results may hold media. */
export const anthropicChatExtras: readonly ChatExtra[] = ['cache_control', 'top_k', 'thinking', 'content_blocks', 'tool_media'];
