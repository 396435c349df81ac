import { describe, expect, it } from 'vitest';
import { isControlPlanePath } from '../../../core/endpoints/control-plane.ts';
import { matchEndpoint } from '../../../core/endpoints/index.ts';

describe('paths of the control plane', () => {
  it.each(['/v1/configs', '/v1/configs/pc-a', '/v1/logs/..a', '/v1/providers/a.b', '/v2/organisations/x/...'])(
    '%s is one',
    (path) => {
      expect(isControlPlanePath(path)).toBe(true);
    },
  );

  it.each(['/v1/chat/completions', '/v1/config-s', '/v1/', '/v2', '/internal/v1/changes'])('%s is none', (path) => {
    expect(isControlPlanePath(path)).toBe(false);
  });

  it.each([
    '/v2/../internal/v1/changes',
    '/v2/.././internal/v1/changes',
    '/v1/configs/../../internal/v1/changes',
    '/v1/configs/%2e%2e/%2E%2e/internal/v1/changes',
    '/v1/configs/.%2e/..',
    '/v1/configs/.',
  ])('%s never reaches it', (path) => {
    expect(matchEndpoint('GET', path)).not.toBe('control-plane');
  });
});
