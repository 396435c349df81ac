import { describe, expect, it } from 'vitest';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

/** A workspace whose catalogue and provider have the models `a` to `e`. */
function harnessOfFive() {
  const harness = createHarness();
  const names = ['a', 'b', 'c', 'd', 'e'];
  harness.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', 'openai'),
    secrets: '{"api_key":"key"}',
  });
  harness.documents.set(`workspace-models ${workspaceId}`, {
    providers: [{ slug: 'cloud', provider: 'openai', models: names.map((slug) => ({ slug, created: 0 })) }],
  });
  harness.script(replyWith(200, { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0 })) }));
  return harness;
}

const list = (query: string, more: Record<string, string> = {}) =>
  harnessOfFive().send({
    method: 'GET',
    path: `/v1/models${query}`,
    headers: { 'anthropic-version': '2023-06-01', ...more },
    body: '',
  });

describe('GET /models in the form of Anthropic', () => {
  it.each([
    ['', 'abcde', false],
    ['?limit=1000', 'abcde', false],
    ['?limit=2', 'ab', true],
    ['?limit=2&after_id=@cloud/b', 'cd', true],
    ['?limit=2&after_id=@cloud/c', 'de', false],
    ['?limit=2&before_id=@cloud/d', 'bc', true],
    ['?before_id=@cloud/c', 'ab', false],
    ['?after_id=@cloud/e', '', false],
    ['?limit=2&order=desc', 'ed', true],
  ])('with %s: the page %j, more: %s', async (query, names, more) => {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    const ids = [...names].map((name) => `@cloud/${name}`);
    expect((json.data as { id: string }[]).map(({ id }) => id)).toEqual(ids);
    expect(json).toMatchObject({ has_more: more, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });

  it('pages the list of a provider too', async () => {
    const { json } = await list('?limit=2&after_id=a', { 'x-svc-provider': '@cloud' });
    expect(json).toMatchObject({ data: [{ id: 'b' }, { id: 'c' }], has_more: true, last_id: 'c' });
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=1001'],
    ['limit', '?limit='],
    ['after_id', '?after_id=@cloud/x'],
    ['before_id', '?before_id=@cloud/x'],
    ['before_id', '?after_id=@cloud/a&before_id=@cloud/c'],
  ])('rejects %s in %s', async (param, query) => {
    const { status, json } = await list(query);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { message: expect.stringContaining(`${param}: `) } });
  });
});
