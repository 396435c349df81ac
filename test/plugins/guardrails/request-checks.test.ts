import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chat, run, tool } from './run-check.ts';

describe('verdict and explanation of checks of the request', () => {
  it.each<[string, JsonObject, JsonObject, boolean, string]>([
    ['modelWhitelist', { models: ['m', 'n'] }, chat('x'), true, 'Model "m" is allowed.'],
    ['modelWhitelist', { models: ['n'] }, chat('x'), false, 'Model "m" is not in the allowed list.'],
    ['modelWhitelist', { models: ['n'], not: true }, chat('x'), true, 'Model "m" is not in the allowed list as expected.'],
    ['modelWhitelist', { models: ['m'] }, chat('x', { models: ['m', 'n'] }), false, 'Model "n" is not in the allowed list.'],
    ['modelWhitelist', { models: ['m'] }, chat('x', { models: ['m'] }), true, 'Model "m" is allowed.'],
    [
      'modelWhitelist',
      { models: ['n'], not: true },
      chat('x', { fallbacks: [{ model: 'n' }] }),
      false,
      'Model "n" is in the allowed list when it should not be.',
    ],
    [
      'modelWhitelist',
      { models: ['m'] },
      chat('x', { Models: ['n'] }),
      false,
      'The lists of further models in the request cannot be read.',
    ],
    ['modelRules', { rules: { defaults: ['m'] } }, chat('x', { models: ['n'] }), false, 'Model "n" is not allowed by rules.'],
    ['modelRules', { rules: { defaults: ['m'] } }, chat('x'), true, 'Model "m" is allowed by rules. (using default models)'],
    ['modelRules', { rules: { defaults: ['n'] } }, chat('x'), false, 'Model "m" is not allowed by rules.'],
    ['allowedRequestTypes', { allowedTypes: ['chatComplete'] }, chat('x'), true, 'Request type "chatComplete" is allowed.'],
    [
      'allowedRequestTypes',
      { allowedTypes: 'embed, complete' },
      chat('x'),
      false,
      'Request type "chatComplete" is not allowed. Allowed types are: embed, complete',
    ],
    ['allowedRequestTypes', { blockedTypes: ['chatComplete'] }, chat('x'), false, 'Request type "chatComplete" is blocked.'],
    ['allowedRequestTypes', {}, chat('x'), true, 'Request type "chatComplete" is allowed (no restrictions configured).'],
    ['requestParametersCheck', { tools: { allowedFunctionNames: ['f'] } }, chat('x', tool), true, 'All checks passed.'],
    [
      'requestParametersCheck',
      { tools: { blockedFunctionNames: ['f'] } },
      chat('x', tool),
      false,
      'Blocked tools: "f" (function name is blocked)',
    ],
    [
      'requestParametersCheck',
      { tools: { allowedTypes: ['web_search'] } },
      chat('x', tool),
      false,
      'Blocked tools: "f" (type is not in allowed list)',
    ],
    [
      'requestParametersCheck',
      { params: { blockedKeys: ['temperature'] } },
      chat('x', { temperature: 0.5 }),
      false,
      'Blocked params: "temperature"=0.5 (key is blocked)',
    ],
    [
      'requestParametersCheck',
      { params: { allowedKeys: ['model', 'messages'] } },
      chat('x', { temperature: 0.5, top_p: 1 }),
      false,
      'Blocked params: "temperature"=0.5 (key is not in allowed list); "top_p"=1 (key is not in allowed list)',
    ],
    [
      'requestParametersCheck',
      { params: { values: { temperature: { allowedValues: [0, 1] } } } },
      chat('x', { temperature: 0.5 }),
      false,
      'Blocked params: "temperature"=0.5 (value is not in allowed list)',
    ],
  ])('%s %j', async (name, parameters, body, verdict, explanation) => {
    const outcome = await run(name, parameters, body);
    expect([outcome.verdict, outcome.data?.explanation, outcome.error]).toEqual([verdict, explanation, undefined]);
  });

  it.each<[string, JsonObject, Record<string, string>, boolean, string]>([
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team', 'env'] },
      { team: 'a', env: 'b' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team', 'zz'] },
      { team: 'a' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['zz'], operator: 'any' },
      {},
      false,
      "Check failed for 'any' metadata keys. No metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team'], operator: 'none' },
      { team: 'a' },
      false,
      "Check failed for 'none' metadata keys. Some metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['toString'] },
      {},
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: 'a' } },
      { team: 'a' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: ['a', 'b'] } },
      { team: 'c' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: 'red' }, matchType: 'contains' },
      { team: 'bored' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: ['r', 'x'] }, matchType: 'containsAll' },
      { team: 'r' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: '^a+$' }, matchType: 'regex' },
      { team: 'aaa' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'modelRules',
      { rules: { defaults: ['x'], metadata: { team: { a: ['m'] } } } },
      { team: 'a' },
      true,
      'Model "m" is allowed by rules. (matched rules: team:a)',
    ],
    [
      'modelRules',
      { rules: { defaults: ['m'], metadata: { team: { a: ['x'] } } } },
      { team: 'a' },
      false,
      'Model "m" is not allowed by rules.',
    ],
    [
      'allowedRequestTypes',
      {},
      { supported_endpoints: 'embed,complete' },
      false,
      'Request type "chatComplete" is not allowed. Allowed types are: embed, complete',
    ],
    ['allowedRequestTypes', {}, { blocked_endpoints: 'chatComplete' }, false, 'Request type "chatComplete" is blocked.'],
  ])('%s %j with metadata %j', async (name, parameters, metadata, verdict, explanation) => {
    const outcome = await run(name, parameters, chat('x'), metadata);
    expect([outcome.verdict, outcome.data?.explanation]).toEqual([verdict, explanation]);
  });

  it('allowedRequestTypes: without lists the result allows all types by default', async () => {
    const { data } = await run('allowedRequestTypes', {}, chat('x'));
    expect(data).toMatchObject({ allowedTypes: ['all'], source: 'default', mode: 'unrestricted' });
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['modelWhitelist', { models: ['m'] }, { messages: [] }, 'Missing model in request'],
  ])('%s cannot decide', async (name, parameters, body, message) => {
    expect(await run(name, parameters, body)).toMatchObject({ verdict: false, error: { name: 'Error', message } });
  });
});
