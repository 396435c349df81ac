import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';

/** What chat calls over the Converse API take beyond OpenAI's fields; what a single model lacks of it is reported per call. */
export const converseExtras: readonly ChatExtra[] = [
  'cache_control',
  'top_k',
  'thinking',
  'content_blocks',
  'tool_media',
  'tool_errors',
  'metadata',
];
