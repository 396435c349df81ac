import { RE2JS } from 're2js';
import { expect, it, vi } from 'vitest';
import { isExpansion, mayExpand } from '../../../../core/mcp/server/uri-templates.ts';

it.each([
  ['file:///logs/{day}', 'file:///logs/monday', true],
  ['file:///logs/{day}', 'file:///logs/', true],
  ['file:///logs/{day}', 'file:///logs/a/b', false],
  ['file:///logs/{day}', 'file:///logs/a?b', false],
  ['file:///logs/{day}', 'file:///log/monday', false],
  ['file:///{+path}', 'file:///a/b?c#d', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/issues', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/issues?state=open&page=2', true],
  ['repo://{owner}/{name}/issues{?state,page}', 'repo://a/b/pulls', false],
  ['x://a{/path*}', 'x://a/b/c', true],
  ['x://a{/path*}', 'x://ab', false],
  ['x://a{.ext}{#part}', 'x://a.md#top', true],
  ['x://a.b/{c}', 'x://aXb/d', false],
  ['{+uri}', 'file:///etc/passwd', false],
  ['x://plain', 'x://plain', false],
])('the template %s can become %s: %s', (template, uri, expected) => {
  expect(isExpansion(template, uri)).toBe(expected);
});

it('long URIs match no template, and many expressions take linear time', () => {
  expect(isExpansion('x://{+a}', `x://${'a'.repeat(16_384)}`)).toBe(false);
  expect(isExpansion(`x://${'{+a}'.repeat(30)}!`, `x://${'a'.repeat(16_000)}`)).toBe(false);
});

it('a URI is sent to the server of a template with the same beginning', () => {
  expect(mayExpand('file:///logs/{day}', 'file:///logs/a/b')).toBe(true);
  expect(mayExpand('{+uri}', 'file:///logs')).toBe(false);
});

it('a template is compiled once for all URIs', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  const expanded = Array.from({ length: 100 }, (_, i) => isExpansion('once://{owner}/issues{/id}', `once://acme/issues/${i}`));
  expect(expanded).not.toContain(false);
  expect(compile).toHaveBeenCalledTimes(1);
  compile.mockRestore();
});

it('compiled templates of at most 64 Ki characters are kept, because each takes far more memory than its text', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  const templates = Array.from({ length: 100 }, (_, i) => `kept://${i}/${'a'.repeat(1_000)}/{id}`);
  for (const template of templates) isExpansion(template, template.replace('{id}', '1'));
  isExpansion(templates[99] as string, (templates[99] as string).replace('{id}', '2'));
  expect(compile).toHaveBeenCalledTimes(100);
  isExpansion(templates[0] as string, (templates[0] as string).replace('{id}', '2'));
  expect(compile).toHaveBeenCalledTimes(101);
  compile.mockRestore();
});
