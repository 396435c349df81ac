import type { ChatExtra } from '../../../translate/messages-over-chat/request.ts';

/**
 * Fields of the Messages format beyond OpenAI's that Gemini chat accepts. Signed reasoning is one of them, so that it survives
 * the translation.
 */
export const geminiChatExtras: readonly ChatExtra[] = [
  'top_k',
  'thinking',
  'content_blocks',
  'tool_media',
  'tool_errors',
  'file_urls',
  'images',
];
