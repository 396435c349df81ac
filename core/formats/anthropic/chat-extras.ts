import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';

/**
 * Fields beyond OpenAI's that chat calls over the Messages API accept. Signed reasoning survives, and tool results may hold
 * media.
 */
export const anthropicChatExtras: readonly ChatExtra[] = ['cache_control', 'top_k', 'thinking', 'content_blocks', 'tool_media'];
