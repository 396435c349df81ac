import { expect, it } from 'vitest';
import { finishReasonOf } from '../../../../../core/formats/gemini/chat/finish-reason.ts';

it.each([
  ['SAFETY', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'length'],
  ['UNEXPECTED_TOOL_CALL', 'length'],
  ['ESCALATION', 'content_filter'],
  ['PUP_LIMITED_DISABLED', 'content_filter'],
  ['MISSING_THOUGHT_SIGNATURE', 'length'],
])('Gemini: %s does not read like a complete reply but %s, with and without tool calls', (reason, finish) => {
  expect([finishReasonOf(reason, false, true), finishReasonOf(reason, true, true)]).toEqual([finish, finish]);
  expect(finishReasonOf(reason, false, false)).toBe(reason);
});
