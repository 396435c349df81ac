import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { cohere } from '../../../../core/providers/cohere/index.ts';
import { callOf } from '../contract-suite.ts';

const chat = cohere.operations.chatComplete as Operation;

it.each([
  ['adaptive thinking', { thinking: { type: 'adaptive' } }, { type: 'enabled' }, ['thinking'], []],
  ['a display of reasoning', { thinking: { type: 'adaptive', display: 'omitted' } }, { type: 'enabled' }, ['thinking'], []],
  ['thinking between tools', { thinking: { type: 'between_tools' } }, { type: 'disabled' }, ['thinking'], []],
  [
    'adaptive thinking with an effort',
    { thinking: { type: 'adaptive' }, reasoning_effort: 'low' },
    { type: 'enabled' },
    ['thinking'],
    ['reasoning_effort'],
  ],
  [
    'a budget with an effort',
    { thinking: { type: 'enabled', budget_tokens: 512 }, reasoning_effort: 'high' },
    { type: 'enabled', token_budget: 512 },
    [],
    ['reasoning_effort'],
  ],
  ['an effort', { reasoning_effort: 'high' }, { type: 'enabled' }, ['reasoning_effort'], []],
])('cohere: reports what its switch for reasoning cannot carry of %s', (_, params, thinking, adapted, dropped) => {
  const call = callOf({ model: 'command-a-reasoning-08-2025', messages: [{ role: 'user', content: 'Hi' }], ...params }, {}, {});
  expect(chat.toProvider?.(call.params, call)).toMatchObject({ thinking });
  expect([call.adapted, call.dropped]).toEqual([adapted, dropped]);
});

it.each([
  ['tools', { tools: [{ type: 'function', function: { name: 'weather' } }] }],
  ['documents', { documents: ['Paris is a city.'] }],
])('cohere: JSON as the form of the reply is an instruction beside %s', (_, more) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } };
  const call = callOf({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], response_format, ...more }, {}, {});
  const body = chat.toProvider?.(call.params, call);
  expect(body).not.toHaveProperty('response_format');
  expect(body?.messages).toEqual([
    { role: 'system', content: expect.stringContaining(JSON.stringify(schema)) },
    { role: 'user', content: 'Hi' },
  ]);
  expect(call.adapted).toEqual(['response_format']);
});

it('cohere: a long list of documents is sent', () => {
  const documents = Array.from({ length: 200_000 }, () => 'a');
  const call = callOf({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], documents }, {}, {});
  expect(chat.toProvider?.(call.params, call)).toMatchObject({ documents: { length: 200_000 } });
});
