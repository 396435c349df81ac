import { expect, it } from 'vitest';
import { adapters } from '../../../../core/providers/reka-ai/index.ts';
import { callOf } from '../contract-suite.ts';

it('reka-ai: an image in the result of a tool is reported as dropped, because results are text', () => {
  const content = [
    { type: 'text', text: 'rain' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ];
  const call = callOf({ model: 'reka-core', messages: [{ role: 'tool', tool_call_id: 'a', content }] }, {}, {});
  const body = adapters[0]?.operations.chatComplete?.toProvider?.(call.params, call);
  expect(body?.messages).toEqual([{ role: 'tool_output', content: [{ tool_call_id: 'a', output: 'rain' }] }]);
  expect(call.dropped).toEqual(['messages.content']);
});
