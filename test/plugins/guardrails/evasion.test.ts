import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json.ts';
import { answer, chatReply, chatStream, createHarness } from '../../support/pipeline-harness.ts';

const word = 'password';
const widen = (text: string) => [...text].map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).join('');
const spread = (text: string, between: string) => [...text].join(between);

/** Ways to write the word so that a plain search does not find it. Each is the content of a message. */
const evasions: Readonly<Record<string, unknown>> = {
  'upper case': 'PASSWORD',
  'mixed case': 'PassWord',
  'full width': widen(word),
  'mathematical letters': '𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝',
  'circled letters': 'ⓟⓐⓢⓢⓦⓞⓡⓓ',
  'Cyrillic look-alikes': 'раѕѕwоrd',
  'Greek look-alikes': 'pαsswοrd',
  'small capitals': 'passwᴏrd',
  'zero-width spaces': spread(word, '\u200b'),
  'zero-width joiners': spread(word, '\u200d'),
  'soft hyphens': spread(word, '\u00ad'),
  'tag characters': spread(word, '\u{e0061}'),
  'direction marks': spread(word, '\u202e'),
  'combining marks': spread(word, '\u0301'),
  'precomposed accents': 'pásswörd',
  base64: Buffer.from(`the ${word} is`).toString('base64'),
  'base64 for URLs': Buffer.from(`the ${word} is ???>>>`).toString('base64url'),
  'split over content parts': ['pass', 'word'].map((text) => ({ type: 'text', text })),
};

/** Ways that `normalize` does not see through. They are listed so that a change is noticed. */
const missed: Readonly<Record<string, string>> = {
  spaces: spread(word, ' '),
  'digits for letters': 'p4ssw0rd',
  reversed: [...word].reverse().join(''),
  hexadecimal: Buffer.from(word).toString('hex'),
  ROT13: 'cnffjbeq',
};

async function statusOf(content: unknown, check: JsonObject): Promise<number> {
  const gateway = createHarness();
  const config = { provider: '@one', input_guardrails: [{ ...check, deny: true }] };
  const body = { model: 'm', messages: [{ role: 'user', content }] };
  return (await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body })).status;
}

const checks: Readonly<Record<string, JsonObject>> = {
  contains: { 'default.contains': { words: ['Password'], operator: 'none', normalize: true } },
  regexMatch: { 'default.regexMatch': { rule: 'pass(word|phrase)', not: true, normalize: true } },
};

describe.each(Object.entries(checks))('%s with normalize', (_name, check) => {
  it.each(Object.entries(evasions))('denies %s', async (_way, content) => {
    expect(await statusOf(content, check)).toBe(446);
  });

  it.each(Object.entries(missed))('does not see through %s', async (_way, content) => {
    expect(await statusOf(content, check)).toBe(200);
  });

  it.each(['hello', 'Прывітанне', 'γειά σου', 'héllo wörld', 'SGVsbG8gd29ybGQh', 'pass the word'])(
    'passes %s',
    async (content) => {
      expect(await statusOf(content, check)).toBe(200);
    },
  );
});

describe('without normalize', () => {
  const plain = { 'default.contains': { words: [word], operator: 'none' } };
  it('denies the word as it is written', async () => {
    expect(await statusOf('a password', plain)).toBe(446);
  });

  it.each(Object.entries(evasions))('does not see through %s', async (_way, content) => {
    expect(await statusOf(content, plain)).toBe(200);
  });
});

it.each(Object.entries(checks))('%s: a denied stream leaves no text, wherever it is split', async (_name, check) => {
  const text = `QQ ${word} QQ`;
  const config = { provider: '@one', output_guardrails: [{ ...check, deny: true }] };
  for (let at = 1; at < text.length; at++) {
    const gateway = createHarness();
    gateway.script(chatStream([text.slice(0, at), text.slice(at)]));
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true };
    const sink = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body });
    expect(sink.status).toBe(446);
    expect(sink.text).not.toContain('QQ');
  }
});

it('a denied reply with several choices is denied for any of them', async () => {
  const config = { provider: '@one', output_guardrails: [{ ...checks.contains, deny: true }] };
  const reply = chatReply('fine') as { choices: JsonObject[] };
  reply.choices.push({ index: 1, message: { role: 'assistant', content: widen(word) } });
  const gateway = createHarness();
  gateway.script(answer(200, reply));
  const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], n: 2 };
  expect((await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body })).status).toBe(446);
});
