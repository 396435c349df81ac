import { expect, it } from 'vitest';
import type { RestOperation, RestParameter } from '../../../../core/contract/protocol/mcp/mcp-rest.ts';
import { ArgumentError, restRequest } from '../../../../core/mcp/rest/rest-request.ts';

const parameter = (name: string, more: Partial<RestParameter> = {}): RestParameter => ({
  ...{ argument: name, name, in: 'query', required: false, style: 'form', explode: true },
  ...more,
});
const inPath: Partial<RestParameter> = { in: 'path', required: true, style: 'simple', explode: false };
const operation = (parameters: RestParameter[], more: Partial<RestOperation> = {}): RestOperation => ({
  ...{ tool: { name: 't' }, method: 'GET', path: '/items', parameters, body: null },
  ...more,
});
const form = 'application/x-www-form-urlencoded';
const colours = ['blue', 'a,b', 'x y'];
const shape = { R: 100, G: 200 };

it.each<[string, Partial<RestParameter>, unknown, string]>([
  ['form', {}, colours, '?c=blue&c=a%2Cb&c=x%20y'],
  ['form', {}, shape, '?R=100&G=200'],
  ['form, not exploded', { explode: false }, colours, '?c=blue,a%2Cb,x%20y'],
  ['form, not exploded', { explode: false }, shape, '?c=R,100,G,200'],
  ['spaceDelimited', { style: 'spaceDelimited', explode: false }, colours, '?c=blue%20a%2Cb%20x%20y'],
  ['pipeDelimited', { style: 'pipeDelimited', explode: false }, colours, '?c=blue%7Ca%2Cb%7Cx%20y'],
  ['deepObject', { style: 'deepObject' }, { 'a&b': '1=2' }, '?c%5Ba%26b%5D=1%3D2'],
  ['json', { style: 'json', explode: false }, { a: [1] }, '?c=%7B%22a%22%3A%5B1%5D%7D'],
  ['form', {}, '&admin=true#x', '?c=%26admin%3Dtrue%23x'],
  ['form', {}, false, '?c=false'],
  ['form', {}, { nested: { a: 1 } }, '?nested=%7B%22a%22%3A1%7D'],
  ['form', {}, null, ''],
])('a query parameter of the style %s %j is %j sent as %s', (_, more, value, expected) => {
  expect(restRequest(operation([parameter('c', more)]), { c: value }).path).toBe(`/items${expected}`);
});

it.each<[unknown, Partial<RestParameter>, string]>([
  ['a/../b?x#y', {}, '/items/a%2F..%2Fb%3Fx%23y'],
  ['{other}', {}, '/items/%7Bother%7D'],
  [colours, {}, '/items/blue,a%2Cb,x%20y'],
  [shape, {}, '/items/R,100,G,200'],
  [shape, { explode: true }, '/items/R=100,G=200'],
  ['é', {}, '/items/%C3%A9'],
])('a path parameter %j %j stays one segment', (value, more, expected) => {
  const made = operation([parameter('id', { ...inPath, ...more })], { path: '/items/{id}' });
  expect(restRequest(made, { id: value }).path).toBe(expected);
});

it('sends headers and bodies of the types that the operation has', () => {
  const header = parameter('X-Trace', { argument: 'trace', in: 'header', style: 'simple', explode: false });
  const json = operation([header], { method: 'POST', body: { contentType: 'application/json', required: true } });
  expect(restRequest(json, { trace: 'a, b', body: { a: 1 } })).toEqual({
    ...{ path: '/items', headers: ['x-trace', 'a, b', 'content-type', 'application/json'], body: Buffer.from('{"a":1}') },
  });
  const asForm = operation([], { method: 'POST', body: { contentType: form, required: false } });
  expect(restRequest(asForm, { body: { a: 'x&y', b: [1, 2] } }).body).toEqual(Buffer.from('a=x%26y&b=1&b=2'));
  expect(restRequest(asForm, {})).toEqual({ path: '/items', headers: [], body: null });
});

it.each<[string, Record<string, unknown>, string]>([
  ['an unknown argument', { id: 'a', more: 1 }, 'arguments.more: this tool has no such argument'],
  ['a missing argument', {}, 'arguments.id: required'],
  ['a name of every object', { id: 'a', constructor: 1 }, 'arguments.constructor: this tool'],
  ['the directory above', { id: '..' }, 'arguments.id: this value cannot be sent in a path'],
  ['an empty segment', { id: '' }, 'arguments.id: this value'],
  ['half of a surrogate pair', { id: '\ud800' }, 'arguments.id: this value cannot be sent in a URL'],
  [
    'a line break in a header',
    { id: 'a', trace: 'x\r\nauthorization: y' },
    'arguments.trace: this value cannot be sent in a header',
  ],
  ['a long value', { id: 'a'.repeat(9_000) }, 'arguments: the URL would have more than 8192 characters'],
  ['a missing body', { id: 'a', trace: 'x' }, 'arguments.body: required'],
  ['a form that is no object', { id: 'a', body: [1] }, 'arguments.body: an object is expected'],
])('refuses %s', (_, sent, message) => {
  const header = parameter('X-Trace', { argument: 'trace', in: 'header', style: 'simple', explode: false });
  const made = operation([parameter('id', inPath), header], {
    ...{ method: 'POST', path: '/items/{id}', body: { contentType: form, required: true } },
  });
  expect(() => restRequest(made, sent)).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
  expect(() => restRequest(made, sent)).toThrow(ArgumentError);
});
