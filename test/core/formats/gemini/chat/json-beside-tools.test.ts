import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { chatRequest } from '../../../../../core/formats/gemini/chat/chat-request.ts';
import { callOf } from '../../../providers/contract-suite.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } };
const tools = [{ type: 'function', function: { name: 'weather' } }];
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
];

function sent(params: JsonObject) {
  const call = callOf({ model: 'gemini-2.5-flash', messages, ...params }, {}, {});
  const body = chatRequest(call.params, call, { isGeminiApi: true });
  return {
    config: body.generationConfig,
    system: body.systemInstruction as { parts: { text: string }[] },
    adapted: call.adapted,
  };
}

describe('Gemini: JSON as the form of the reply', () => {
  it('is an instruction beside tools for models that reject both together', () => {
    const { config, system, adapted } = sent({ response_format, tools });
    expect(config).toBeUndefined();
    expect(system.parts.map(({ text }) => text)).toEqual(['Be brief.', expect.stringContaining(JSON.stringify(schema))]);
    expect(adapted).toEqual(['response_format']);
  });

  it('is an instruction beside tools of which one must be called', () => {
    const { config, adapted } = sent({ response_format, tools, tool_choice: 'required', model: 'gemini-3-flash' });
    expect(config).toBeUndefined();
    expect(adapted).toEqual(['response_format']);
  });

  it.each([
    ['without tools', { response_format }],
    ['since Gemini 3', { response_format, tools, model: 'gemini-3-flash' }],
    ['beside native instructions', { response_format, tools, systemInstruction: { parts: [{ text: 'Be brief.' }] } }],
  ])('is sent as such %s', (_, params) => {
    const { config, system, adapted } = sent(params);
    expect(config).toMatchObject({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } });
    expect(system.parts).toEqual([{ text: 'Be brief.' }]);
    expect(adapted).toEqual([]);
  });
});
