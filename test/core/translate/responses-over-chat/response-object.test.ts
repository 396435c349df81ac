import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { endingOf, responseObject } from '../../../../core/translate/responses-over-chat/response-object.ts';
import { callOf } from '../../providers/contract-suite.ts';

function responseTo(params: JsonObject, finishReason = 'stop'): JsonObject {
  const state = { id: 'resp_1', model: 'm', ending: endingOf(finishReason), output: [], usage: null };
  return responseObject(state, callOf(params, {}, {}));
}

/** https://www.openresponses.org, ResponseResource: every field is present, and null without a value. */
describe('fields of a response that the Open Responses specification requires', () => {
  it('are null without a value', () => {
    const nothing = { safety_identifier: null, prompt_cache_key: null, previous_response_id: null, instructions: null };
    expect(responseTo({ input: 'x' })).toMatchObject({ ...nothing, tools: [], text: { format: { type: 'text' } } });
    expect(responseTo({ input: 'x' }, 'length')).toMatchObject({ completed_at: null, status: 'incomplete' });
  });

  it('repeat what the request set', () => {
    const set = { safety_identifier: 'user-7', prompt_cache_key: 'bucket' };
    expect(responseTo({ input: 'x', ...set })).toMatchObject(set);
  });

  it('are complete in functions, and unchanged in other tools', () => {
    const given = { type: 'function', name: 'f', description: 'Does f', parameters: { type: 'object' }, strict: true };
    const tools = [{ type: 'function', name: 'g' }, given, { type: 'custom', name: 'h' }];
    expect(responseTo({ input: 'x', tools }).tools).toEqual([
      { type: 'function', name: 'g', description: null, parameters: null, strict: false },
      given,
      { type: 'custom', name: 'h' },
    ]);
  });

  it('are complete in a JSON schema, beside the other settings of the text', () => {
    const format = { type: 'json_schema', name: 'answer', schema: { type: 'object' } };
    expect(responseTo({ input: 'x', text: { format, verbosity: 'low' } }).text).toEqual({
      format: { ...format, description: null, strict: false },
      verbosity: 'low',
    });
  });
});
