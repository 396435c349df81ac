import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { bedrock } from '../../../../../core/providers/bedrock/index.ts';
import { callOf } from '../../contract-suite.ts';

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' } };
const note = { type: 'text', text: 'Be quick.' };

/** Returns the turns after the first one, as names of blocks, if a user adds these parts before and after the results of tools. */
function turnsWith(model: string, parts: JsonObject[]) {
  const calls = ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } }));
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'hello' });
  const user = parts.map((part) => ({ role: 'user', content: [part] }));
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: calls },
    result('c1'),
    ...user,
    result('c2'),
    ...user,
  ];
  const params = { model, messages };
  const call = callOf(params, {}, {});
  const body = bedrock.operations.chatComplete?.toProvider?.(params, call) as unknown as { messages: Turn[] };
  const turns = body.messages.slice(2).map(({ role, content }) => [role, ...content.flatMap((block) => Object.keys(block))]);
  return { turns, adapted: call.adapted };
}

interface Turn {
  readonly role: string;
  readonly content: JsonObject[];
}

describe('results of tools in a turn of a Converse call', () => {
  it.each(['us.meta.llama4-maverick-17b-instruct-v1:0', 'mistral.mistral-large-2407-v1:0', 'us.writer.palmyra-x5-v1:0'])(
    'are alone for %s, and texts follow in another turn',
    (model) => {
      const { turns, adapted } = turnsWith(model, [note]);
      expect(turns).toEqual([
        ['user', 'toolResult', 'toolResult'],
        ['assistant', 'text'],
        ['user', 'text', 'text'],
      ]);
      expect(adapted).toContain('messages');
      expect(turnsWith(model, []).turns).toEqual([['user', 'toolResult', 'toolResult']]);
    },
  );

  it('stand beside texts for Claude, but not beside documents', () => {
    expect(turnsWith(claude, [note]).turns).toEqual([['user', 'toolResult', 'text', 'toolResult', 'text']]);
    expect(turnsWith(claude, [{ ...note, cache_control: { type: 'ephemeral' } }, pdf]).turns).toEqual([
      ['user', 'toolResult', 'toolResult'],
      ['assistant', 'text'],
      ['user', 'text', 'cachePoint', 'document', 'text', 'cachePoint', 'document'],
    ]);
  });

  it('stand beside all content for makers that accept it', () => {
    expect(turnsWith('amazon.nova-pro-v1:0', [pdf]).turns).toEqual([
      ['user', 'toolResult', 'document', 'toolResult', 'document'],
    ]);
  });
});
