import { RE2JS } from 're2js';
import { expect, it, vi } from 'vitest';
import { acceptedBy, isExpansion, mayExpand } from '../../../../core/mcp/server/uri-templates.ts';

it.each([
  ['file:///logs/{day}', 'file:///logs/monday', true],
  ['file:///logs/{day}', 'file:///logs/', true],
  ['file:///logs/{day}', 'file:///logs/a/b', false],
  ['file:///logs/{day}', 'file:///logs/a?b', false],
  ['file:///logs/{day}', 'file:///log/monday', false],
  ['file:///{+path}', 'file:///a/b?c#d', true],
  ['files://{path*}', 'files://a/b', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/issues', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/issues?state=open&page=2', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/pulls', false],
  ['x://a{/path*}', 'x://a/b/c', true],
  ['x://a{/path*}', 'x://ab', false],
  ['x://a{.ext}{#part}', 'x://a.md#top', true],
  ['x://a.b/{c}', 'x://aXb/d', false],
  ['{+uri}', 'file:///etc/passwd', false],
  ['x://plain', 'x://plain', false],
  ['x://{a}{b}', 'x://', true],
  ['x://{a}b{c}b', 'x://abcb', true],
  ['x://{a}b{c}b', 'x://ab', false],
  ['x://{+a}/b{/c}{?d}', 'x://a/b/b/c?d=1', true],
  ['x://{a}{&b}', 'x://a&b/c#d', false],
])('the template %s can become %s: %s', (template, uri, expected) => {
  expect(isExpansion(template, uri)).toBe(expected);
});

it.each(['docs://host/team/a/../../secret/b', 'docs://host/team/%2e%2e/b', 'docs://host/team/..%2Fb/c'])(
  'the selected template docs://host/team/{name}/{+path} does not lead elsewhere: %s',
  (uri) => {
    expect(isExpansion('docs://host/team/{name}/{+path}', 'docs://host/team/a/b')).toBe(true);
    expect(isExpansion('docs://host/team/{name}/{+path}', uri)).toBe(false);
  },
);

it.each([
  ['logs://x/{day}', 'logs://x/monday', true],
  ['logs://x/{day}', 'logs://x/monday?a=/b', true],
  ['logs://x/{day}', 'logs://x/monday#a', true],
  ['logs://x/{day}', 'logs://x/monday/a', false],
  ['logs://x/{day}', 'logs://y/monday', false],
  ['logs://x/{day}/end', 'logs://x/monday/en', false],
  ['files://{path*}', 'files://a/b', true],
  ['x://{+path}', 'x://a\nb', true],
  ['{+uri}', 'file:///etc/passwd', true],
  ['x://{?page}', `x://?page=${'1'.repeat(16_384)}`, true],
])('a server may read an expansion of %s in %s: %s', (template, uri, expected) => {
  expect(acceptedBy([template])(uri)).toBe(expected);
});

it('long URIs match no template, and many expressions take linear time', () => {
  expect(isExpansion('x://{+a}', `x://${'a'.repeat(16_384)}`)).toBe(false);
  expect(isExpansion(`x://${'{+a}'.repeat(30)}!`, `x://${'a'.repeat(16_000)}`)).toBe(false);
});

it('a URI is sent to the server of a template with the same beginning', () => {
  expect(mayExpand('file:///logs/{day}', 'file:///logs/a/b')).toBe(true);
  expect(mayExpand('{+uri}', 'file:///logs')).toBe(false);
});

it('a URI whose comparison takes too long is accepted, and is no expansion', () => {
  const costly = `x://${'{+a}b'.repeat(20)}!`;
  const uri = `x://${'ab'.repeat(8_000)}`;
  expect(acceptedBy([costly])(uri)).toBe(false);
  expect(acceptedBy(Array.from({ length: 2_000 }, () => costly))(uri)).toBe(true);
  expect(isExpansion(`x://${'{+a}b'.repeat(2_000)}{+c}`, uri)).toBe(false);
});

// Seconds, which were almost a minute.
it('literals and leads that repeat in a URI take linear time', { timeout: 20_000 }, () => {
  const half = 'a'.repeat(900);
  const [repeated, marks] = [`x://${'a'.repeat(16_000)}`, `x://${'?#;'.repeat(5_000)}`];
  const ofLiterals = Array.from({ length: 2_000 }, (_, i) => `x://{+a}${half}b${half}{+c}${i}`);
  const ofLeads = Array.from({ length: 2_000 }, (_, i) => `x://${'{?a}{#b}{;c}'.repeat(60)}!${i}`);
  const verdicts = [acceptedBy(ofLiterals), acceptedBy(ofLeads)].flatMap((isAccepted) =>
    Array.from({ length: 5 }, () => [isAccepted(repeated), isAccepted(marks)]),
  );
  expect(verdicts.flat()).toContain(true);
});

it('templates are compared with URIs without an expression for each', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  const isAccepted = acceptedBy(Array.from({ length: 100 }, (_, i) => `db://{schema}/${i}/{id}`));
  expect([isAccepted('db://public/99/1'), isAccepted('db://public/100/1')]).toEqual([true, false]);
  expect(compile).not.toHaveBeenCalled();
  compile.mockRestore();
});
