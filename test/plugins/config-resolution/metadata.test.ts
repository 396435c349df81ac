import { describe, expect, it } from 'vitest';
import { createHarness } from '../../support/pipeline-harness.ts';

const body = { model: '@one/gpt-5', messages: [] };
/** As it arrives: each byte of the header one character. */
const asBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

describe('the metadata header', () => {
  it.each([
    ['UTF-8', asBytes('{"name":"Zoë 😀"}'), 'Zoë 😀'],
    ['latin1', '{"name":"Zoë"}', 'Zoë'],
    ['escapes', '{"name":"Zo\\u00eb"}', 'Zoë'],
  ])('is recorded as it was meant, in %s', async (_what, header, name) => {
    const gateway = createHarness();
    expect((await gateway.send({ body, headers: { 'x-svc-metadata': header } })).status).toBe(200);
    expect(gateway.records[0]?.metadata).toEqual({ name });
  });

  it('gives way to the metadata of the key', async () => {
    const defaults = { configSlug: null, metadata: { team: 'red' }, allowConfigOverride: true };
    const gateway = createHarness({ key: { defaults } });
    await gateway.send({ body, headers: { 'x-svc-metadata': '{"team":"blue","stage":"test"}' } });
    expect(gateway.records[0]?.metadata).toEqual({ team: 'red', stage: 'test' });
  });

  it('names the user of the body where nobody else is named', async () => {
    const gateway = createHarness();
    await gateway.send({ body: { ...body, user: 'ann' } });
    await gateway.send({ body: { ...body, user: 'ann' }, headers: { 'x-svc-metadata': '{"_user":"bob"}' } });
    expect(gateway.records.map((record) => record.metadata)).toEqual([{ _user: 'ann' }, { _user: 'bob' }]);
  });

  it.each([
    ['no JSON', '{a}', 'it must be a JSON object'],
    ['a list', '[]', 'it must be a JSON object'],
    ['a number', '{"n":1}', 'n must be a string'],
    ['a long value', `{"n":"${'x'.repeat(129)}"}`, 'n is longer than 128 characters'],
    ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, '']))), 'at most 50 keys'],
  ])('is refused with what is wrong for %s', async (_what, header, message) => {
    const gateway = createHarness();
    const reply = await gateway.send({ body, headers: { 'x-svc-metadata': header } });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ error: { param: 'x-svc-metadata', message: expect.stringContaining(message) } });
    expect(gateway.calls).toHaveLength(0);
  });
});

it('reads an inline config in UTF-8', async () => {
  const gateway = createHarness();
  const config = asBytes('{"provider":"@one","override_params":{"user":"Zoë"}}');
  await gateway.send({ body: { ...body, model: 'gpt-5' }, headers: { 'x-svc-config': config } });
  expect(JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString('utf8'))).toMatchObject({ user: 'Zoë' });
});
