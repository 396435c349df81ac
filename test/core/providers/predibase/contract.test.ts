import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { predibase } from '../../../../core/providers/predibase/index.ts';
import { callOf, providerContractSuite } from '../contract-suite.ts';

providerContractSuite(predibase, {
  settings: { predibase_tenant_id: 'tenant-1' },
  finishReasons: { stop: 'stop', length: 'length', eos_token: 'stop', tool_calls: 'tool_calls' },
});

it('predibase: calls the deployment of the tenant in the settings or the request', () => {
  const chat = predibase.operations.chatComplete as Operation;
  const path = (params: object, settings = {}) => chat.path(callOf({ ...params }, {}, settings));
  expect(path({ model: 'qwen3-8b:a/1' }, { predibase_tenant_id: 't1' })).toBe(
    '/t1/deployments/v2/llms/qwen3-8b/v1/chat/completions',
  );
  expect(path({ model: '../x', user: 't2' })).toBe('/t2/deployments/v2/llms/..%2Fx/v1/chat/completions');
  expect(() => path({ model: 'm' })).toThrow(/predibase_tenant_id/);
  expect(() => path({ model: 'm', user: '../other' })).toThrow(/tenant/);
  expect(() => path({ model: ':a/1', user: 't' })).toThrow(/model/);
});
