import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';

/** What Gemini chat takes of the Messages format beyond OpenAI's fields: also signed thoughts, so that they survive the way. */
export const geminiChatExtras: readonly ChatExtra[] = [
  'top_k',
  'thinking',
  'content_blocks',
  'tool_media',
  'tool_errors',
  'file_urls',
  'images',
];
