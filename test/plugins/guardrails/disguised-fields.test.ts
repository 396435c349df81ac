import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { contentOfClient } from '../../../plugins/guardrails/session/session-texts.ts';

/** Sends a body through a guardrail that denies a word in any text. Resolves with the status. */
async function send(path: string, body: JsonObject, scope = 'all_messages') {
  const gateway = createHarness();
  gateway.script(replyWith(200, { choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }], pages: [], output: [] }));
  const guardrail = { 'default.contains': { words: ['forbidden'], operator: 'none', scope }, deny: true };
  const provider = path === '/v1/ocr' ? 'mistral-ai' : 'openai';
  const config = { provider, api_key: 'k', input_guardrails: [guardrail] };
  const sink = await gateway.send({ path, headers: { 'x-svc-config': JSON.stringify(config) }, body });
  return sink.status;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Text with a byte that is not UTF-8. */
const broken = (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]).toString('base64');
const file = (filename: string, text: string) => ({
  filename,
  file_data: `data:application/octet-stream;base64,${broken(text)}`,
});
const source = (mark: string, text: string) => ({
  type: 'base64',
  media_type: mark === '' ? 'application/pdf' : 'text/plain',
  data: mark + broken(text),
});
const escaped = (text: string) => [...Buffer.from(base64(text))].map((byte) => `%${byte.toString(16)}`).join('');
const utf32 = (text: string) => {
  const units = Buffer.from(`\ufeff${text}`, 'utf16le');
  return Buffer.concat([...units].flatMap((_, at) => (at % 2 ? [] : [units.subarray(at, at + 2), Buffer.alloc(2)]))).toString(
    'base64',
  );
};
const chat = (message: JsonObject, more: JsonObject = {}) => ({ model: 'm', messages: [message], ...more });
const user = (...content: JsonObject[]) => ({ role: 'user', content });

describe('guardrails of requests read', () => {
  it.each<[string, string, (text: string) => JsonObject]>([
    ['the sentence in a role', '/v1/chat/completions', (text) => chat({ role: `user\n${text}`, content: 'x' })],
    ['a role that no format has', '/v1/chat/completions', (text) => chat({ role: text.replace(/\W/g, ''), content: 'x' })],
    ['the sentence in a type', '/v1/chat/completions', (text) => chat(user({ type: `text ${text}`, text: 'x' }))],
    ['the sentence in a setting', '/v1/chat/completions', (text) => chat(user(), { reasoning_effort: text })],
    ['the style of an image', '/v1/images/generations', (text) => ({ model: 'm', prompt: 'x', style: text })],
    ['the description of a voice', '/v1/audio/speech', (text) => ({ model: 'm', input: 'x', voice: text })],
    [
      'names in examples of a tool',
      '/v1/responses',
      (text) => ({ model: 'm', input: 'x', tools: [{ type: 'function', name: 'f', input_examples: [{ [text]: 1 }] }] }),
    ],
    [
      'the environment of a shell',
      '/v1/responses',
      (text) => ({ model: 'm', input: [{ type: 'local_shell_call', call_id: 'c', action: { env: { [text]: '1' } } }] }),
    ],
  ])('%s', async (_name, path, body) => {
    expect(await send(path, body('harmless'))).toBe(200);
    expect(await send(path, body('a forbidden word'))).toBe(446);
  });

  it('messages of the user with a role in another case, which servers in Go read last', async () => {
    const message = (text: string) => chat({ role: 'assistant', Role: 'user', content: text });
    expect(await send('/v1/chat/completions', message('a forbidden word'), 'user_messages')).toBe(446);
    expect(await send('/v1/chat/completions', message('harmless'), 'user_messages')).toBe(200);
  });

  it.each<[string, string, (text: string) => JsonObject]>([
    ['the prompt of an annotation', '/v1/ocr', (text) => ({ document: {}, document_annotation_prompt: text })],
    ['a document in text', '/v1/ocr', (text) => ({ document: { document_url: `data:text/plain;base64,${base64(text)}` } })],
    [
      'a document in text beside a chat',
      '/v1/chat/completions',
      (text) => chat(user({ type: 'document_url', document_url: `data:text/plain;base64,${base64(text)}` })),
    ],
    ['the name of a file', '/v1/responses', (text) => ({ input: [user({ type: 'input_file', file_id: 'f', filename: text })] })],
    ['the name of a file in a chat', '/v1/chat/completions', (text) => chat(user({ type: 'file', file: { filename: text } }))],
    ['a file with a name of text', '/v1/chat/completions', (text) => chat(user({ type: 'file', file: file('a.txt', text) }))],
    [
      'a file of a response with a name of text',
      '/v1/responses',
      (text) => ({ input: [user({ type: 'input_file', ...file('a.md', text) })] }),
    ],
    [
      'a document with a title of text',
      '/v1/messages',
      (text) => chat(user({ type: 'document', title: 'a.csv', source: source('', text) })),
    ],
    ['base64 with other characters', '/v1/messages', (text) => chat(user({ type: 'document', source: source('!', text) }))],
    [
      'a data URL behind white space',
      '/v1/chat/completions',
      (text) => chat(user({ type: 'file', file: { file_data: ` data:text/plain; base64,${base64(text)}` } })),
    ],
    [
      'base64 in escapes of an address',
      '/v1/chat/completions',
      (text) => chat(user({ type: 'file', file: { file_data: `data:text/plain;base64,${escaped(text)}` } })),
    ],
    ['text in UTF-32', '/v1/chat/completions', (text) => chat(user({ type: 'file', file: { file_data: utf32(text) } }))],
    ['base64 behind padding', '/v1/messages', (text) => chat(user({ type: 'document', source: source('eDEy=', text) }))],
    [
      'base64 with padding in its groups',
      '/v1/messages',
      (text) => chat(user({ type: 'document', source: { type: 'base64', data: base64(text).replace(/\w\w/g, '$&=') } })),
    ],
    [
      'a file of Gemini with a name of text',
      '/v1/proxy/models/m:generateContent',
      (text) => ({ inlineData: { displayName: 'a.txt', mimeType: 'x/y', data: broken(text) } }),
    ],
    ['variables of a stored prompt', '/v1/responses', (text) => ({ prompt: { id: 'p', variables: { url: text } } })],
    ['variables of a template', '/v1/chat/completions', (text) => chat(user(), { chat_template_kwargs: { id: text } })],
    ['the text behind the reply', '/v1/completions', (text) => ({ prompt: 'x', suffix: text })],
    ['reasoning of the user', '/v1/chat/completions', (text) => chat(user({ type: 'thinking', thinking: text }))],
    ['a part of an unknown type', '/v1/chat/completions', (text) => chat(user({ type: 'note', note: text }))],
    ['a part without a type', '/v1/chat/completions', (text) => chat(user({ note: text }))],
    ['a list of parts in a list', '/v1/chat/completions', (text) => chat({ role: 'user', content: [[{ type: 'text', text }]] })],
    ['content in another case', '/v1/chat/completions', (text) => chat({ role: 'user', content: 'x', CONTENT: text })],
    ['a text in another case', '/v1/chat/completions', (text) => chat(user({ type: 'text', text: 'x', Text: text }))],
    ['messages in another case', '/v1/chat/completions', (text) => chat(user(), { Messages: [{ content: text }] })],
    ['messages in letters that Go folds', '/v1/chat/completions', (text) => chat(user(), { me\u017fsages: [{ content: text }] })],
    ['the input in another case', '/v1/embeddings', (text) => ({ input: 'x', Input: text })],
    ['results of a search in files', '/v1/responses', (text) => ({ input: [{ type: 'file_search_call', results: [{ text }] }] })],
    ['logs of code', '/v1/responses', (text) => ({ input: [{ type: 'code_interpreter_call', outputs: [{ logs: text }] }] })],
    ['the error of a call', '/v1/responses', (text) => ({ input: [{ type: 'mcp_call', error: text }] })],
  ])('%s, in every scope', async (_name, path, body) => {
    for (const scope of ['last_message', 'all_messages']) {
      expect(await send(path, { model: 'm', ...body('a forbidden word') }, scope)).toBe(446);
      expect(await send(path, { model: 'm', ...body('harmless') }, scope)).toBe(200);
    }
  });

  it.each(['prompt_token_ids', 'input_ids', 'prompt_embeds', 'input_embeds', 'context', 'token_ids', 'Context', 'Input_Ids'])(
    'no token ids and embeddings, so %s is denied',
    async (name) => {
      expect(await send('/v1/completions', { model: 'm', prompt: 'x', [name]: [1, 2] })).toBe(446);
      expect(await send('/v1/chat/completions', chat({ role: 'user', content: 'x' }, { [name]: [1, 2] }))).toBe(446);
      expect(await send('/v1/completions', { model: 'm', prompt: 'x', [name]: null })).toBe(200);
    },
  );

  it('a text in place of token ids', async () => {
    expect(await send('/v1/proxy/generate', { prompt: 'x', context: 'a forbidden word' })).toBe(446);
    expect(await send('/v1/proxy/generate', { prompt: 'x', context: 'harmless' })).toBe(200);
    expect(await send('/v1/proxy/generate', { prompt: 'x', context: [1, 2] })).toBe(446);
    expect(await send('/v1/proxy/generate', { Prompt: [1, 2] })).toBe(446);
  });

  it('the sentence in a setting of a realtime session, but not its usual word', () => {
    const session = (voice: string) => contentOfClient({ type: 'session.update', session: { type: 'realtime', voice } });
    expect(session('alloy')).toBe('nothing');
    expect(session('a forbidden word')).toEqual({ texts: ['a forbidden word'] });
  });
});
