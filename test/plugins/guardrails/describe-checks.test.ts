import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { guardrailCatalogue } from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { checks } from '../../../plugins/guardrails/checks/index.ts';
import { describeChecks } from '../../../plugins/guardrails/describe-checks.ts';

it('describes every check with its sides and the JSON Schema of its parameters', () => {
  const all = v.parse(guardrailCatalogue, { checks: describeChecks() }).checks;
  expect(all.map(({ id }) => id)).toEqual([...checks.keys()].sort());
  for (const { id, parameters } of all) {
    expect(parameters, id).toMatchObject({ type: 'object', properties: { failOnError: { type: 'boolean' }, scope: {} } });
  }
  const contains = all.find(({ id }) => id === 'default.contains');
  expect(contains).toMatchObject({ about: null, sides: ['input', 'output'], changes: 'never', reads_text: true });
  expect(contains?.parameters).toMatchObject({
    required: ['words'],
    additionalProperties: false,
    properties: { words: { type: 'array', minItems: 1 }, operator: { enum: ['any', 'all', 'none'], default: 'any' } },
  });
  expect(all.find(({ id }) => id === 'default.regexReplace')?.changes).toBe('always');
  expect(all.find(({ id }) => id === 'azure.pii')?.changes).toBe('by_parameters');
});

it('the READMEs of guardrails name every check of the gateway and each of its parameters', () => {
  const folder = new URL('../../../plugins/guardrails/', import.meta.url);
  const documents = ['README.md', 'checks/content/README.md', 'checks/partners/README.md'];
  const text = documents.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const words = new Set(text.split(/[^\w.]+/));
  const own = describeChecks().filter(({ id }) => /^(default|svc)\./.test(id));
  const missing = own.flatMap(({ id, parameters }) => [id, ...Object.keys(parameters.properties as object)]);
  expect(missing.filter((name) => !words.has(name))).toEqual([]);
});

it('describes checks of plugins with their own JSON Schema', () => {
  const jsonSchema = { type: 'object', properties: { topics: { type: 'array' } } } as const;
  const added = {
    about: 'Finds topics.',
    sides: ['input'],
    parameters: v.object({}),
    jsonSchema,
    run: () => ({ verdict: true, data: null, text: null }),
  } as const;
  const all = describeChecks(new Map([['acme.topics', { id: 'acme.topics', ...added }]]));
  expect(all.find(({ id }) => id === 'acme.topics')).toMatchObject({
    ...{ about: 'Finds topics.', sides: ['input'], changes: 'never', reads_text: true },
    parameters: { properties: { topics: { type: 'array' }, failOnError: { type: 'boolean' } } },
  });
});
