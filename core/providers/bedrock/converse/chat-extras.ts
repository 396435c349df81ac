import type { ChatExtra } from '../../../translate/messages-over-chat/request.ts';

/**
 * Fields beyond OpenAI's that chat calls over the Converse API accept. Fields that a single model lacks are reported per call.
 */
export const converseExtras: readonly ChatExtra[] = [
  'cache_control',
  'top_k',
  'thinking',
  'content_blocks',
  'tool_media',
  'tool_errors',
  'metadata',
];
