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
    ['jo\u0308rg@b\u00fccher.example', 'j\u00f6rg@xn--bcher-kva.example'],
    ['J\u00d6RG@b\u00fccher.example', 'j\u00f6rg@xn--bcher-kva.example'],
    ['ada@BU\u0308CHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['ada@\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444', 'ada@xn--e1afmkfd.xn--p1ai'],
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
