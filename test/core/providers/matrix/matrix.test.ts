import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { expectGolden } from './golden.ts';
import { providerCases } from './provider-cases.ts';
import { providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type Format, type Scenario, scenarios } from './scenarios.ts';

const formats: readonly Format[] = ['chat', 'messages', 'responses'];

/**
 * Every client format with every one of these providers. Golden files hold the provider requests and the client replies, and the
 * official clients must assemble the same reply from the stream.
 */
describe.each(providerCases.map((provider) => [provider.name, provider] as const))('%s', (id, provider) => {
  describe.each(formats)('in the format of %s', (format) => {
    it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (name, scenario) => {
      const params = asked(scenario, format, provider.model);
      // Chat clients get reasoning only if they do not require the strict OpenAI format.
      const options = { strict: format !== 'chat' || name !== 'reasoning' };
      const made = providerFetch(provider, format, [scenario.reply], options);
      const reply = await readByClient(format, made, params, false).catch((error) => ({ refused: error.message }));
      const { path = null, body = null, dropped = [], adapted = [] } = made.sent[0] ?? {};
      const whole: unknown = made.replies[0] === undefined ? reply : JSON.parse(made.replies[0]);
      const golden = { path, request: body, dropped, adapted, reply: whole };
      if ('refused' in reply) return expectGolden(`${name}/${format}-${id}`, golden);
      const streamed = await readByClient(format, made, params, true);
      expect(streamed).toEqual(reply);
      expect(made.sent[1]).toMatchObject({ dropped, adapted });
      const fields = Object.entries(made.sent[1]?.body ?? {}).filter(([key, value]) => !isDeepStrictEqual(value, body?.[key]));
      const stream = { path: made.sent[1]?.path, fields: Object.fromEntries(fields) };
      expectGolden(`${name}/${format}-${id}`, { ...golden, stream });
    });
  });
});

function asked(scenario: Scenario, format: Format, model: string): JsonObject {
  return { model, ...scenario.asked[format] };
}
