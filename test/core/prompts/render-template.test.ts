import { describe, expect, test } from 'vitest';
import { compileTemplate } from '../../../core/prompts/compile-template.ts';
import { renderTemplate } from '../../../core/prompts/render-template.ts';
import { partialsOf, variablePartialsOf, variablesOf } from '../../../core/prompts/template-variables.ts';
import { partialSet } from './partial-set.ts';

describe('plain text', () => {
  test.each<[string, object, string]>([
    ['Say {{name}} "now"', { name: 'Ann' }, 'Say Ann "now"'],
    ['{{a}}{{{a}}}{{&a}}', { a: '<b> & "c"' }, '<b> & "c"'.repeat(3)],
    ['n={{n}} b={{b}} o={{o}} k={{o.k}}', { n: 0, b: false, o: { k: 'v' } }, 'n=0 b=false o={"k":"v"} k=v'],
    ['{{list}}', { list: [1, 'a', { b: 2 }] }, '1,"a",{"b":2}'],
    ['[{{none}}{{null}}]', { null: null }, '[]'],
    ['{{#show}}shown{{/show}}{{^show}}hidden{{/show}}', { show: true }, 'shown'],
    ['{{#show}}shown{{/show}}{{^show}}hidden{{/show}}', {}, 'hidden'],
    ['{{#list}}[{{t}}{{x}}]{{/list}}', { list: [{ t: 'one' }, { t: 'two' }], x: '!' }, '[one!][two!]'],
    ['{{#list}}{{.}};{{/list}}', { list: ['a', 'b'] }, 'a;b;'],
    ['{{#user}}{{name}} {{missing.name}}{{/user}}', { user: { name: 'Ann' } }, 'Ann '],
    ['a{{! a comment with {{braces }}b', {}, 'ab'],
    ['{{=<% %>=}}{{<% x %>}}', { x: 1 }, '{{1}}'],
    ['{{text.length}}', { text: 'four' }, '4'],
    ['{{constructor.name}}{{__proto__}}{{toString}}{{a.constructor}}', { a: {} }, ''],
  ])('%s', (text, variables, expected) => {
    expect(render(text, variables)).toBe(expected);
  });

  test('a value is never read as template', () => {
    const partials = { 'pp-a': 'hello {{u}}', 'pp-secret': 'secret' };
    const variables = { u: '{{secret}} {{>pp-secret}} {{{secret}}}', secret: 'leaked' };
    expect(render('{{>pp-a}} {{u}}', variables, { partials })).toBe(`hello ${variables.u} ${variables.u}`);
  });
});

describe('messages', () => {
  const text = JSON.stringify([
    { role: 'system', content: 'You help {{name}}.' },
    { role: 'user', content: 'Say "{{name}}"\n{{>pl-greet}}{{#show}}!{{/show}}' },
  ]);
  const partials = { 'pl-greet': 'Dear {{name}},\n"hi"' };

  test('values and partials are escaped exactly once', () => {
    const name = 'A "q"\n\\ line <b>& é 日本 \u2028';
    expect(JSON.parse(render(text, { name, show: true }, { partials }))).toEqual([
      { role: 'system', content: `You help ${name}.` },
      { role: 'user', content: `Say "${name}"\nDear ${name},\n"hi"!` },
    ]);
  });

  test.each<[unknown, string]>([
    [1234, '1234'],
    [true, 'true'],
    [null, ''],
    [{ k: 'v"' }, '{"k":"v\\""}'],
    [['a', 1], '"a",1'],
  ])('the value %j is the text %s inside a string', (name, expected) => {
    expect(JSON.parse(render('[{"content":"{{name}}"}]', { name }))).toEqual([{ content: expected }]);
  });

  test('a section may contain whole messages', () => {
    const more = '[{"role":"user","content":"a{{#more}}"},{"role":"user","content":"{{.}}{{/more}}"}]';
    expect(JSON.parse(render(more, { more: ['b"', 'c'] }))).toHaveLength(3);
  });

  test('a text that is no JSON list is plain text', () => {
    expect(compileTemplate('[INST] {{x}} [/INST]', { isRaw: false }).kind).toBe('text');
    expect(compileTemplate('{"a": 1}', { isRaw: false }).kind).toBe('text');
    expect(compileTemplate(' [{"role": "user"}]', { isRaw: false }).kind).toBe('messages');
  });
});

describe('raw templates', () => {
  const raw = (text: string, variables: object, partials = {}) => JSON.parse(render(text, variables, { isRaw: true, partials }));

  test('values outside of strings are JSON', () => {
    const text =
      '[{{#items}}{"role":"user","n":{{n}},"s":{{s}},"content":"{{s}}"},{{/items}}{"tags":[{{tags}}],"list":{{tags}}}]';
    expect(raw(text, { items: [{ n: 1, s: '"}' }], tags: ['a', '],"x":1'] })).toEqual([
      { role: 'user', n: 1, s: '"}', content: '"}' },
      { tags: ['a', '],"x":1'], list: ['a', '],"x":1'] },
    ]);
  });

  test('a partial outside of strings is JSON, and inside of one it is text', () => {
    const partials = { 'pp-few': '{"role":"user","content":"{{x}} \\" "},', 'pp-q': '"' };
    expect(raw('[{{>pp-few}} {"content":"{{>pp-q}}"}]', { x: '"' }, partials)).toEqual([
      { role: 'user', content: '" " ' },
      { content: '"' },
    ]);
    expect(() => raw('[{{>pp-q}}]', {}, partials)).toThrow(
      'partial pp-q: line 1, column 2: the template ends inside a JSON string',
    );
  });

  test('sections that change the context are rejected', () => {
    expect(() => render('["{{#a}}"{{/a}}]', {}, { isRaw: true })).toThrow(
      'line 1, column 3: the section "a" begins inside a JSON string',
    );
    expect(() => render('["\\{{a}}"]', {}, { isRaw: true })).toThrow('a tag follows a backslash');
  });
});

describe('syntax errors have a line and a column', () => {
  test.each<[text: string, message: string]>([
    ['a\n b {{#open}} never closed', 'line 2, column 26: Unclosed section "open"'],
    ['a {{x', 'line 1, column 3: the tag is not closed by }}'],
    ['a {{{x}}', 'line 1, column 3: the tag is not closed by }}}'],
    ['{{/x}}', 'line 1, column 1: Unopened section "x"'],
    ['{{#a}}\n{{/b}}', 'line 2, column 1: Unclosed section "a"'],
    ['{{=<%=}}', 'line 1, column 1: expected two delimiters'],
    ['{{=<% %>', 'line 1, column 1: the tag is not closed by ='],
    [`${'{{#a}}'.repeat(51)}${'{{/a}}'.repeat(51)}`, 'more than 50 sections inside each other'],
    ['x'.repeat(500_001), 'more than 500000 characters'],
  ])('%#', (text, message) => {
    expect(() => compileTemplate(text, { isRaw: false })).toThrow(message);
  });
});

describe('bounds', () => {
  test('a result beyond the limit is 413', () => {
    const loops = '{{#l}}{{#l}}{{#l}}{{x}}{{/l}}{{/l}}{{/l}}';
    const variables = { l: Array(100).fill(1), x: 'x'.repeat(10_000) };
    expect(() => render(loops, variables)).toThrow(expect.objectContaining({ code: 'body_too_large', status: 413 }));
    expect(() => render('{{x}}', { x: 'é'.repeat(600_000) })).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  });

  test('loops without output end after a number of steps', () => {
    const loops = '{{#l}}{{#l}}{{#l}}{{y}}{{/l}}{{/l}}{{/l}}';
    expect(() => render(loops, { l: Array(1000).fill(1) })).toThrow('more than 400000 steps');
  });

  test.each(['{{#l}}{{#l}}{{/l}}{{/l}}', '{{#l}}{{#l}}{{! nothing }}{{/l}}{{/l}}'])(
    'loops without tags in their bodies end after a number of steps: %s',
    (loops) => {
      expect(() => render(loops, { l: Array(1000).fill(1) })).toThrow('more than 400000 steps');
    },
  );

  test('a loop with text and no tags ends at the maximum length', () => {
    const text = `{{#l}}${'x'.repeat(100_000)}{{/l}}`;
    expect(() => render(text, { l: Array(10_000).fill(1) })).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  });

  test('names with many parts take more steps', () => {
    const inner = `{{${'a.'.repeat(49)}b}}`.repeat(100);
    const deep = JSON.parse(`${'{"a":'.repeat(49)}{}${'}'.repeat(49)}`) as object;
    expect(() => render(`{{#l}}${inner}{{/l}}`, { l: Array(100).fill(deep) })).toThrow('more than 400000 steps');
  });

  test('each place of a partial takes steps by its length, once in a rendering', () => {
    const places = (count: number) => Array.from({ length: count }, (_, i) => `\n${' '.repeat(i)}{{>pp-a}}\n`).join('');
    const partials = { 'pp-a': `{{^hide}}${'x'.repeat(200_000)}{{/hide}}` };
    const variables = { l: Array(1_000).fill(1), hide: true };
    expect(render(`{{#l}}${places(3)}{{/l}}`, variables, { partials }).trim()).toBe('');
    expect(() => render(places(8), variables, { partials })).toThrow('more than 400000 steps');
  });

  test('the steps of a place count its indentation, and its text is bounded before it is written', () => {
    const partials = { 'pp-a': 'a\n'.repeat(100_000) };
    const indented = (width: number) => `${' '.repeat(width)}{{>pp-a}}\n`;
    expect(render(indented(2), {}, { partials })).toBe(`  a\n`.repeat(100_000));
    const tooLong = 'partial pp-a: line 1, column 1: the text has more than 500000 characters with its indentation';
    expect(() => render(indented(4), {}, { partials })).toThrow(tooLong);
    expect(() => render(indented(200_000), {}, { partials })).toThrow('more than 400000 steps');
    const hidden = { variables: { hide: true }, partials: { 'pp-a': `{{^hide}}${'a\n'.repeat(1_000)}{{/hide}}` } };
    const places = (count: number) => Array.from({ length: count }, (_, i) => indented(i)).join('');
    expect(() => render(places(40), hidden.variables, hidden)).not.toThrow();
    expect(() => render(places(80), hidden.variables, hidden)).toThrow('more than 400000 steps');
  });

  test('a partial that includes itself ends', () => {
    expect(() => render('{{>pp-a}}', {}, { partials: { 'pp-a': 'x{{>pp-a}}' } })).toThrow(
      'more than 30 partials inside each other',
    );
  });
});

test('strict mode names every variable that has no value, once', () => {
  const text = '{{a}} {{b}} {{b}} {{c.d}} {{#e}}{{f}}{{/e}}{{^e}}{{g}}{{/e}}';
  const variables = { a: null, c: {} };
  expect(render(text, variables)).toBe('    ');
  expect(() => render(text, variables, { isStrict: true })).toThrow('variables: missing b, c.d, g');
});

test('names in a template: variables, partials, variable partials', () => {
  const template = compileTemplate(
    '{{name}} {{#items}}{{name}}{{.}}{{>pp-a@5}}{{/items}}{{^items}}{{>>which}}{{>pp-a@5}}{{/items}}',
    {
      isRaw: false,
    },
  );
  expect(partialsOf(template)).toEqual(['pp-a@5']);
  expect(variablePartialsOf(template)).toEqual(['which']);
  expect(variablesOf(template)).toEqual([
    { name: 'name', use: 'value', sections: [] },
    { name: 'items', use: 'section', sections: [] },
    { name: 'name', use: 'value', sections: ['items'] },
    { name: 'which', use: 'partial', sections: [] },
  ]);
});

interface Options {
  readonly partials?: Readonly<Record<string, string>>;
  readonly isRaw?: boolean;
  readonly isStrict?: boolean;
}

function render(text: string, variables: object, { partials = {}, isRaw = false, isStrict = false }: Options = {}): string {
  return renderTemplate(compileTemplate(text, { isRaw }), {
    variables: variables as Record<string, unknown>,
    partials: partialSet(partials),
    bytesMax: 1_000_000,
    isStrict,
  });
}
