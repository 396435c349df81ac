import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';

/** The methods for prompts of a client made for another gateway. */
let gateway: SharedGatewayWithUpstream;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());

/** The declared types of replies are records. */
// biome-ignore lint/suspicious/noExplicitAny: the assertions are the check
const any = async (call: PromiseLike<object>): Promise<any> => await call;

it('prompts of the other client are made with a partial, rendered, completed, streamed, changed, labelled, published and deleted', async () => {
  const { prompts, collections, labels } = new Portkey({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey });
  const model = 'gpt-4o-mini';
  const workspace_id = gateway.workspaceId;
  const collection = await any(collections.create({ name: 'Client', workspace_id }));
  const partial = await any(prompts.partials.create({ name: 'Greeting', string: 'Dear {{name}},', workspace_id }));
  const string = JSON.stringify([{ role: 'user', content: `{{>${partial.slug}}} "{{topic}}"` }]);
  const made = await any(
    prompts.create({ name: 'P', collection_id: collection.id, string, parameters: {}, virtual_key: 'oai', model }),
  );
  const slug: string = made.slug;
  const variables = { name: 'Ann "A."', topic: '{{name}}' };
  const content = 'Dear Ann "A.", "{{name}}"';
  const rendered = await any(prompts.render({ promptID: slug, variables, temperature: 0.5 }));
  expect(rendered).toMatchObject({
    success: true,
    data: { model, temperature: 0.5, messages: [{ role: 'user', content }] },
  });

  const completion = await any(prompts.completions.create({ promptID: slug, variables }));
  expect(completion.choices[0].message.content).toBe(`You said: ${content}`);
  const stream = await prompts.completions.create({ promptID: slug, variables, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices?.[0]?.delta?.content ?? '';
  expect(text).toBe(`You said: ${content}`);

  const newer = JSON.stringify([{ role: 'user', content: 'newer' }]);
  await prompts.update(slug, { string: newer, parameters: {}, virtual_key: 'oai', model });
  const versions = (await any(prompts.versions.list(slug))).data;
  expect(versions.map((one: { prompt_version: number }) => one.prompt_version)).toEqual([2, 1]);
  expect(await any(prompts.versions.retrieve(slug, '1'))).toMatchObject({ prompt_version: 1, string });
  const { data } = await any(labels.list({ workspace_id }));
  const { id: label_id } = data.find(({ name }: { name: string }) => name === 'staging');
  await prompts.versions.update(slug, '2', { label_id });
  expect(await any(prompts.retrieve(`${slug}@staging`))).toMatchObject({ string: newer });
  await prompts.publish(slug, { version: 2 });
  expect(await any(prompts.retrieve(slug))).toMatchObject({ string: newer, prompt_version: 2 });

  await prompts.delete(slug);
  await prompts.partials.delete(partial.slug);
  await expect(any(prompts.retrieve(slug))).rejects.toMatchObject({ status: 404 });
  await expect(any(prompts.completions.create({ promptID: slug, variables }))).rejects.toMatchObject({ status: 404 });
});
