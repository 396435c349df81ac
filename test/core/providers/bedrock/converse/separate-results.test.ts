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

/** Returns the turns and reports of a call of one tool with a text before it and this result. */
function turnsOf(model: string, result: JsonObject, params: JsonObject = {}) {
  const toolCalls = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }];
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'One moment.', tool_calls: toolCalls },
    { role: 'tool', tool_call_id: 'c1', ...result },
  ];
  const call = callOf({ model, messages, ...params }, {}, {});
  const body = bedrock.operations.chatComplete?.toProvider?.({ model, messages, ...params }, call) as unknown as Sent;
  return { turns: body.messages, tools: body.toolConfig, adapted: call.adapted, dropped: call.dropped };
}

interface Sent {
  readonly messages: Turn[];
  readonly toolConfig: JsonObject;
}

const read = { toolUse: { toolUseId: 'c1', name: 'read', input: {} } };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } };
const picture = { image: { format: 'png', source: { bytes: 'iVBORw0=' } } };

describe('calls of tools in a turn of a Converse call', () => {
  it('are alone for Llama, and the text before them is in another turn', () => {
    const { turns, adapted } = turnsOf('us.meta.llama4-maverick-17b-instruct-v1:0', { content: 'hello' });
    expect(turns.slice(1)).toEqual([
      { role: 'assistant', content: [{ text: 'One moment.' }] },
      { role: 'user', content: [{ text: 'Call the tools.' }] },
      { role: 'assistant', content: [read] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'hello' }] } }] },
    ]);
    expect(adapted).toContain('messages');
  });

  it.each([claude, 'mistral.mistral-large-2407-v1:0', 'amazon.nova-pro-v1:0'])('stand beside texts for %s', (model) => {
    expect(turnsOf(model, { content: 'hello' }).turns[1]).toEqual({
      role: 'assistant',
      content: [{ text: 'One moment.' }, read],
    });
  });
});

describe('content of results of tools on Bedrock', () => {
  it('has no status for Writer, which rejects the field, and is reported', () => {
    const { turns, dropped } = turnsOf('us.writer.palmyra-x5-v1:0', { content: 'no', is_error: true });
    expect(turns.at(-1)?.content).toEqual([{ toolResult: { toolUseId: 'c1', content: [{ text: 'no' }] } }]);
    expect(dropped).toEqual(['messages.is_error']);
    expect(turnsOf(claude, { content: 'no', is_error: true }).dropped).toEqual([]);
  });

  it('has images for Claude, Llama and Nova', () => {
    for (const model of [claude, 'us.meta.llama4-maverick-17b-instruct-v1:0', 'amazon.nova-pro-v1:0']) {
      const { turns } = turnsOf(model, { content: [note, image] });
      expect(turns.at(-1)?.content).toEqual([{ toolResult: { toolUseId: 'c1', content: [{ text: note.text }, picture] } }]);
    }
  });

  it.each([
    ['mistral.pixtral-large-2502-v1:0', ['user', 'assistant', 'user', 'assistant', 'user']],
    ['moonshotai.kimi-k2.5', ['user', 'assistant', 'user']],
    ['qwen.qwen3-vl-235b-a22b', ['user', 'assistant', 'user']],
  ])('has no images for %s, and they follow the result', (model, roles) => {
    const { turns, adapted } = turnsOf(model, { content: [note, image] });
    expect(turns.map(({ role }) => role)).toEqual(roles);
    expect(turns[2]?.content[0]).toEqual({
      toolResult: { toolUseId: 'c1', content: [{ text: note.text }, { text: 'The attachments of this result follow.' }] },
    });
    expect(turns.at(-1)?.content.slice(-2)).toEqual([{ text: 'Attachments of the result c1:' }, picture]);
    expect(adapted).toContain('messages');
  });

  it('the choice of a tool is not sent to Writer, and a named tool is the only one', () => {
    const tools = ['read', 'write'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
    const choose = (choice: JsonObject | string) =>
      turnsOf('us.writer.palmyra-x5-v1:0', { content: 'hello' }, { tools, tool_choice: choice });
    expect(choose('required').tools.toolChoice).toBeUndefined();
    expect(choose('required').dropped).toContain('tool_choice');
    const named = choose({ type: 'function', function: { name: 'read' } }).tools;
    expect(named).toMatchObject({ tools: [{ toolSpec: { name: 'read' } }] });
    expect(named.toolChoice).toBeUndefined();
  });
});
