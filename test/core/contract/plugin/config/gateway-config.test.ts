import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../../../core/contract/plugin/config/gateway-config.ts';
import { settingNames } from '../../../../../core/providers/declarations.ts';

const issues = (config: unknown, limits?: Parameters<typeof parseGatewayConfig>[2]): string => {
  const parsed = parseGatewayConfig(config, settingNames, limits);
  return 'errors' in parsed ? parsed.errors.join('\n') : '';
};
const two = [
  { name: 'a', provider: '@a' },
  { name: 'b', provider: '@b' },
];
const fallback = { mode: 'fallback' };

describe('a valid config', () => {
  it.each([
    { provider: '@a', metadata: { team: 'red' }, strict_params: true, cache: 'simple' },
    { passthrough: true, default_params: { a: 1 } },
    { strategy: fallback, targets: [{ provider: '@a', on_status_codes: [429] }, { passthrough: true }] },
    {
      strategy: fallback,
      targets: [
        { provider: '@a', cache: { mode: 'simple', max_age: 60 } },
        { provider: '@b', cache: 'off' },
      ],
    },
    { retry: { attempts: 2 }, targets: two },
    { strategy: { mode: 'single' }, provider: '@a' },
    { provider: '@a', weight: 1, on_status_codes: [500], metadata: { a: 1, b: true } },
    { strategy: fallback, targets: [{ provider: '@a', weight: 1 }] },
    { strategy: { mode: 'loadbalance' }, targets: [{ provider: '@a', on_status_codes: [500] }] },
    { provider: '@a', input_guardrails: [], output_guardrails: [], start_hooks: [] },
    { provider: 'azure-openai', azure_entra_scope: 'https://x/.default', byteplus_region: 'ap-southeast' },
    { strategy: { mode: 'conditional', conditions: [{ query: { 'tokens.input': { $gt: 9 } }, then: 'a' }] }, targets: two },
  ])('accepts %j', (config) => {
    expect(issues(config)).toBe('');
  });
});

describe('an invalid config', () => {
  it.each([
    [{ options: [] }, 'options: version of config is not supported'],
    [{ provider: '@a', unknown: 1 }, 'unknown: '],
    [{ provider: '@a', metadata: { a: null } }, 'metadata.a: '],
    [{ provider: '@a', retry: { attempts: 6 } }, 'retry.attempts: '],
    [{ provider: '@a', drop_params: ['seed', 'a['] }, 'drop_params[1]: expected a path such as seed'],
    [{ passthrough: true, provider: '@a' }, 'provider: not allowed with passthrough'],
    [{ passthrough: true, override_params: { a: 1 } }, 'override_params: not allowed with passthrough'],
    [{ passthrough: true, strategy: fallback, targets: two }, 'targets: not allowed with passthrough'],
    [{ strategy: fallback, targets: [{ passthrough: true, api_key: 'k' }] }, 'targets[0].api_key: not allowed with passthrough'],
    [
      { strategy: fallback, targets: [{ passthrough: true, override_params: { model: '@a/gpt' } }] },
      'targets[0].override_params.model: names a provider',
    ],
    [
      { provider: '@a', input_guardrails: [{ on_fail: { feedback: { value: 0.5 } }, 'default.notNull': {} }] },
      'input_guardrails[0].on_fail.feedback.value: a whole number from -10 to 10 is expected',
    ],
    [{ provider: '@a', input_guardrails: [''] }, 'input_guardrails[0]: '],
    [
      { provider: '@a', input_guardrails: [{ id: 'pg-x', guardrail_version_id: 'x' }] },
      'input_guardrails[0].guardrail_version_id: ',
    ],
    [{ strategy: fallback, targets: [{ prompt_id: 'a b' }] }, 'targets[0].prompt_id: '],
    [{ provider: '@a', cache: { mode: 'simple', threshold: 0.9 } }, 'cache.threshold: is for mode semantic only'],
    [{ provider: '@a', cache: { mode: 'semantic', threshold: 1.1 } }, 'cache.threshold'],
    [{ provider: '@a', cache: { mode: 'semantic', embedding: { provider: '@b' } } }, 'cache.embedding.model'],
    [
      { provider: '@a', cache: { mode: 'off', embedding: { provider: '@b', model: 'm' } } },
      'cache.embedding: is for mode semantic only',
    ],
    [
      { strategy: { mode: 'conditional', conditions: [{ query: { 'tokens.output': 1 }, then: 'a' }] }, targets: two },
      'tokens.output: is unknown; use tokens.input',
    ],
  ])('is rejected with the path: %j', (config, text) => {
    expect(issues(config)).toContain(text);
  });
});

describe('limits of targets in a config', () => {
  const many = (count: number) => Array.from({ length: count }, () => ({ name: 'a', provider: '@a' }));
  const conditional = { mode: 'conditional', default: 'a', conditions: [{ query: { 'metadata.a': 'b' }, then: 'a' }] };
  const nest = (count: number) => ({ strategy: fallback, targets: [{ strategy: fallback, targets: many(count) }] });

  it.each([
    [
      '100 at the root',
      { strategy: fallback, targets: many(100) },
      { strategy: fallback, targets: many(101) },
      'targets: expected at most 100, received 101',
    ],
    [
      '1,000 at a conditional root',
      { strategy: conditional, targets: many(1000) },
      { strategy: conditional, targets: many(1001) },
      '1001',
    ],
    ['50 below one target', nest(50), nest(51), 'targets[0].targets: expected at most 50 nested targets, received 51'],
  ])('is %s', (_name, most, tooMany, text) => {
    expect(issues(most)).toBe('');
    expect(issues(tooMany)).toContain(text);
  });

  it('are nested at most five levels deep', () => {
    const deep = (levels: number): object =>
      levels === 0 ? { provider: '@a' } : { strategy: fallback, targets: [deep(levels - 1)] };
    expect(issues(deep(5))).toBe('');
    expect(issues(deep(6))).toContain('targets are nested deeper than 5');
  });

  it('count all depths, and follow the settings', () => {
    const limits = { rootTargetsMax: 1, conditionalRootTargetsMax: 1, nestedTargetsMax: 2 };
    const deep = { strategy: fallback, targets: [{ strategy: fallback, targets: [{ strategy: fallback, targets: many(2) }] }] };
    expect(issues(deep, limits)).toContain('targets[0].targets: expected at most 2 nested targets, received 3');
    expect(issues({ strategy: fallback, targets: two }, limits)).toContain('targets: expected at most 1, received 2');
  });
});

describe('a misspelt key of a config', () => {
  it.each([
    [{ strateegy: fallback }, 'strateegy: unknown key; did you mean strategy?'],
    [{ strategy: { ...fallback, on_status_cods: [500] }, targets: two }, 'strategy.on_status_cods: unknown key; did you mean'],
    [{ targets: [{ overide_params: {} }] }, 'targets[0].overide_params: unknown key; did you mean override_params?'],
    [
      { targets: [{ targets: [{ aws_regoin: 'x' }] }] },
      'targets[0].targets[0].aws_regoin: unknown key; did you mean aws_region?',
    ],
  ])('%j gets the key that is probably meant', (config, text) => {
    expect(issues(config)).toContain(text);
  });
});
