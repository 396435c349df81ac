import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { email } from '../../../admin/identity/schema.ts';

const read = (text: string) => {
  const result = v.safeParse(email, text);
  return result.success ? result.output : null;
};

describe('an e-mail address', () => {
  it.each([
    ['Ada@Example.COM ', 'ada@example.com'],
    ['a+b@x.example', 'a+b@x.example'],
    ["o'b@localhost", "o'b@localhost"],
    ['jo\u0308rg@b\u00fccher.example', 'j\u00f6rg@b\u00fccher.example'],
    ['J\u00d6RG@b\u00fccher.example', 'j\u00f6rg@b\u00fccher.example'],
    ['\u212aim@x.example', 'kim@x.example'],
    ['ada@\uff43orp\u3002example', 'ada@corp.example'],
    ['ada@x\uff61example', 'ada@x.example'],
  ])('in the form %j is stored as %j', (sent, kept) => {
    expect(read(sent)).toBe(kept);
  });

  it.each([
    'a',
    'a@b@c',
    'a@b\uff20c',
    'a@\u3002example',
    '@x.example',
    'a@',
    'a b@x.example',
    '"a"@x.example',
    'a@x.example.',
    'a@.x',
    'a@x..y',
    '.@.',
    'a\u200bb@x.example',
    'a@x\u00a0.example',
    'a@x.example\u202e',
    'a\nb@x.example',
    `${'x'.repeat(65)}@x.example`,
    `a@${'x'.repeat(253)}`,
  ])('in the form %j is rejected', (sent) => {
    expect(read(sent)).toBeNull();
  });
});
