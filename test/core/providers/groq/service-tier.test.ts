import { expect, it } from 'vitest';
import { groq } from '../../../../core/providers/groq/index.ts';
import { callOf } from '../contract-suite.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const chat = groq.operations.chatComplete;

it.each([
  ['default', 'on_demand', ['service_tier'], []],
  ['priority', 'performance', ['service_tier'], []],
  ['scale', undefined, [], ['service_tier']],
  ['flex', 'flex', [], []],
  ['performance', 'performance', [], []],
  [null, null, [], []],
])('groq: service tier %s is sent as %s', (service_tier, expected, adapted, dropped) => {
  const call = callOf({ model: 'openai/gpt-oss-120b', messages, service_tier }, {}, {});
  const body = chat?.toProvider?.(call.params, call);
  expect([body?.service_tier, call.adapted, call.dropped]).toEqual([expected, adapted, dropped]);
});
