import * as v from 'valibot';
import { expect, it } from 'vitest';
import { maskSecrets } from '../admin/audit/mask-secrets.ts';
import { usableInterfaces } from '../admin/resources/agent-integrations/card-schema.ts';
import { readOpenApi } from '../admin/resources/mcp-integrations/rest/read-openapi.ts';
import { findSuspicious } from '../admin/resources/mcp-integrations/tool-findings.ts';
import { createBody } from '../admin/resources/prompt-labels/schema.ts';
import { checkText, decodeBase64 } from '../admin/sign-in/saml/check-document.ts';
import { scanXml } from '../admin/sign-in/saml/scan-xml.ts';
import { partialCall } from '../core/formats/gemini/partial-call.ts';
import { createMasks } from '../core/journal/mask-content.ts';
import { redactText } from '../core/log/redact.ts';
import { modelInForm } from '../core/pipeline/request/passed-request.ts';
import { streamedReply } from '../core/providers/mock/reply-format.ts';
import { contentFacts } from '../plugins/cache/content-facts.ts';

/**
 * Expressions over texts of clients, providers and other parties run on the main thread, so each takes linear time. A search in quadratic time
 * would exceed the time limit of the test by far.
 */
const n = 400_000;
const timeout = 20_000;
const masks = createMasks([], []);
const frame = { id: 'i', created: 0, createdSeconds: 0, model: 'm' } as unknown as Parameters<typeof streamedReply>[0];
const reply = { text: `a${' '.repeat(n)}`, toolCalls: [], finishReason: 'stop', usage: null } as const;

it.each<[string, () => unknown]>([
  ['bodies in logs, with many schemes', () => masks.body('a.'.repeat(n))],
  ['bodies in logs, with many beginnings of a JWT', () => masks.body('-eyJ'.repeat(n))],
  ['bodies in logs, with many beginnings of a URL', () => masks.body('a://:'.repeat(n))],
  ['headers in logs, with JSON of many brackets', () => masks.headers(['x-svc-config', `{"a":${'['.repeat(n)}`])],
  ['audit entries, with many URLs', () => maskSecrets('://?a://a'.repeat(n / 4))],
  ['log lines, with many schemes', () => redactText('a.'.repeat(n))],
  ['log lines, with many beginnings of a JWT', () => redactText('-eyJ'.repeat(n))],
  ['SAML responses with white space', () => expect(() => decodeBase64(`A${' '.repeat(n * 0.75)}!`)).toThrow('not base64')],
  [
    'SAML responses with a long algorithm',
    () => expect(() => checkText(Buffer.from(`<EncryptionMethod Algorithm="${'#rsa-oaep'.repeat(n / 8)}"/>`), [])).toThrow(),
  ],
  ['SAML responses with elements that are not closed', () => scanXml('<a>'.repeat(n))],
  ['SAML responses with an element of many attributes', () => scanXml(`<a${' b="c"'.repeat(n)}`)],
  ['SAML responses with many references', () => scanXml(`<a>${'&#65;'.repeat(n)}</a>`)],
  ['metadata with many beginnings of a comment', () => scanXml(`<a>${'<!--'.repeat(n)}`)],
  ['white space before the mock provider', () => streamedReply(frame, { ...reply, text: ' '.repeat(n) }, null, {})],
  ['white space within a text of the mock provider', () => streamedReply(frame, reply, null, {})],
  ['forms with many fields', () => modelInForm('name=model\n'.repeat(n))],
  [
    'paths of partial arguments',
    () => partialCall({}, null).add({ partialArgs: [{ jsonPath: `${'a'.repeat(n)}"`, stringValue: '' }] }),
  ],
  ['names of labels', () => v.safeParse(createBody, { name: `${'a'.repeat(n)}@` })],
  ['words of punctuation in prompts', () => contentFacts(`a${'!'.repeat(n)}a ${'-'.repeat(n)}1 \`${'`'.repeat(n)}x`)],
  ['definitions of tools', () => findSuspicious({ description: `<${' '.repeat(n)}` })],
  ['addresses in cards', () => usableInterfaces('http://a.example', { url: `http://a.example${'/'.repeat(n)}x` })],
])('%s take linear time', { timeout }, (_, run) => {
  expect(run).not.toThrow();
});

it('OpenAPI documents in YAML: many keys take linear time, and a key twice is refused with its line', { timeout }, () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n');
  expect(() => readOpenApi(keys(40_000))).toThrow('at most 30000 keys');
  expect(() => readOpenApi('openapi: 3.1.0\ninfo:\n  title: a\n  title: b\n')).toThrow(
    'line 4, column 3: Map keys must be unique',
  );
});

it('credentials are masked where a search in linear time finds them', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(30)}.${'c'.repeat(20)}`;
  expect(redactText(`x ${jwt}, a.b-${jwt}.d and ${jwt.slice(0, 40)}`)).toBe('x eyJ***, a.b-eyJ***.d and eyJ***');
  expect(redactText('postgres://user:secret@host/db and a.b.c://:p@h, eyJ.a.b')).toBe(
    'postgres://user:***@host/db and a.b.c://:***@h, eyJ.a.b',
  );
});
