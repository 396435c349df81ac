import { expect, it } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import { anthropic } from '../../../core/providers/anthropic/anthropic.ts';
import { google } from '../../../core/providers/google/index.ts';
import { callOf } from '../providers/contract-suite.ts';

it.each([
  ['anthropic', anthropic.operations.chatComplete as Operation],
  ['google', google.operations.chatComplete as Operation],
])('chat with %s: a file of the service in a message is a 400 that names it', (_, chat) => {
  const messages = (file_id: string) => [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }];
  const send = (id: string): unknown => {
    const call = callOf({ model: 'm', messages: messages(id) }, {}, {});
    return chat.toProvider?.(call.params, call);
  };
  expect(() => send('svc_file_1')).toThrow(
    expect.objectContaining({ code: 'bad_request', param: 'messages[0].content[0].file.file_id' }),
  );
  expect(JSON.stringify(send('file-1'))).toContain('"file-1"');
});
