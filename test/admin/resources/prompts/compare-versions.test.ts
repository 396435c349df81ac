import { expect, it } from 'vitest';
import { compareVersions } from '../../../../admin/resources/prompts/compare-versions.ts';
import type { PromptVersion } from '../../../../admin/resources/prompts/entity.ts';

const user = (content: string) => ({ role: 'user', content });
const system = (content: string) => ({ role: 'system', content });
const version = (messages: unknown, more: object = {}) =>
  ({
    string: typeof messages === 'string' ? messages : JSON.stringify(messages),
    parameters: {},
    isRawTemplate: false,
    ...more,
  }) as PromptVersion;
const compare = (before: unknown, after: unknown) =>
  compareVersions(version(before), version(after)).messages.map(({ change, role, from, to }) =>
    [change, role, from, to].join(' '),
  );

it.each([
  ['equal messages', [system('a'), user('b')], [system('a'), user('b')], ['same system 0 0', 'same user 1 1']],
  ['one changed message', [system('a'), user('b')], [system('a'), user('c')], ['same system 0 0', 'changed user 1 1']],
  ['a message in front', [user('b')], [system('a'), user('b')], ['added system  0', 'same user 0 1']],
  ['a message that is gone', [system('a'), user('b')], [user('b')], ['removed system 0 ', 'same user 1 0']],
  ['another role', [system('a')], [user('a')], ['removed system 0 ', 'added user  0']],
  ['a changed message behind a new one', [user('a')], [system('x'), user('b')], ['added system  0', 'changed user 0 1']],
  ['a text', 'Hello', 'Hello you', ['changed  0 0']],
  ['messages instead of a text', 'Hello', [user('Hello')], ['removed  0 ', 'added user  0']],
])('compareVersions: %s', (_what, before, after, expected) => {
  expect(compare(before, after)).toEqual(expected);
});

it('compareVersions: shows the words of a message that changed', () => {
  const { messages } = compareVersions(version([user('Say hello to Ann')]), version([user('Say goodbye to Ann')]));
  expect(messages[0]?.parts).toEqual([
    { change: 'same', text: 'Say ' },
    { change: 'removed', text: 'hello' },
    { change: 'added', text: 'goodbye' },
    { change: 'same', text: ' to Ann' },
  ]);
});

it('compareVersions: lists other fields that changed, parameters one by one', () => {
  const before = version('x', { parameters: { top_p: 1, seed: 1 }, tools: [{ a: 1 }], model: 'a' });
  const after = version('x', { parameters: { top_p: 1, stop: ['.'] }, tools: [{ a: 1 }], isRawTemplate: true });
  expect(compareVersions(before, after).fields).toEqual([
    { field: 'is_raw_template', from: 0, to: 1 },
    { field: 'model', from: 'a', to: null },
    { field: 'parameters.seed', from: 1, to: null },
    { field: 'parameters.stop', from: null, to: ['.'] },
  ]);
});

it('compareVersions: shows texts with little in common as removed and added', () => {
  const words = (prefix: string) => Array.from({ length: 5_000 }, (_, at) => `${prefix}${at}`).join(' ');
  const { messages } = compareVersions(version(words('a')), version(words('b')));
  expect(messages[0]?.parts.map(({ change }) => change)).toEqual(['removed', 'added']);
});
