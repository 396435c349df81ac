import { expect, it } from 'vitest';
import { describePlugin, loadedLine } from '../../../core/plugin-host/describe-plugin.ts';

const check = { id: 'topics', about: 'Topics.', sides: ['input', 'input'] as const, check: () => true };

it('describes what plugins add, and the log line names them', () => {
  const checks = { source: 'acme-checks', version: '1.2.0', plugin: { apiVersion: 1, name: 'acme', checks: [check] } } as const;
  const hooks = {
    source: '/private/stamp.mjs',
    version: null,
    plugin: { apiVersion: 1, name: 'stamp', stage: 'limits', onConfig: () => null },
  } as const;
  const loaded = [describePlugin(checks, new Set()), describePlugin(hooks, new Set(['onEnd', 'onRequest']))];
  expect(loaded).toEqual([
    {
      name: 'acme',
      package: 'acme-checks',
      version: '1.2.0',
      api_version: 1,
      stage: null,
      hooks: [],
      checks: [{ id: 'acme.topics', about: 'Topics.', sides: ['input'] }],
    },
    { name: 'stamp', package: null, version: null, api_version: 1, stage: 'limits', hooks: ['onRequest', 'onEnd'], checks: [] },
  ]);
  expect(loadedLine(loaded)).toEqual({ plugins: ['acme@1.2.0', 'stamp (limits)'], checks: ['acme.topics'] });
});
