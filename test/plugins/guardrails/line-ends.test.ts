import { expect, it } from 'vitest';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';
import { ask, user } from './ask-gateway.ts';

const chunk = (content: string) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`;
const stream = `${chunk('a secret')}${chunk('')}data: [DONE]\n\n`;

/** How a provider may write the same events. Clients read all of them. */
const forms: [string, string][] = [
  ['LF', stream],
  ['CR LF', stream.replaceAll('\n', '\r\n')],
  ['CR', stream.replaceAll('\n', '\r')],
  ['LF and CR LF', stream.replaceAll('\n\n', '\n\r\n')],
  ['a byte order mark', `\ufeff${stream}`],
  ['no space behind the colon', stream.replaceAll('data: ', 'data:')],
];

it.each(forms)('held stream with %s: a check reads its texts', async (_, text) => {
  const config = { output_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true }] };
  const { sink, status } = await ask(config, { body: { ...user('hi'), stream: true }, scripts: [streamOf([text])] });
  expect(status).toBe(446);
  expect(sink.text).not.toContain('a secret');
});

it.each(forms)('stream in a window with %s: a check reads its texts', async (_, text) => {
  const config = { output_mutators: [{ 'default.regexReplace': { rule: '/secret/g', redactText: '***' }, stream: 'window' }] };
  const { sink } = await ask(config, { body: { ...user('hi'), stream: true }, scripts: [streamOf([text])] });
  expect(sink.text).toContain('a ***');
  expect(sink.text).not.toContain('secret');
});
