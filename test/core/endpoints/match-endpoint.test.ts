import { describe, expect, it } from 'vitest';
import { isAdminCall } from '../../../core/endpoints/control-plane-paths.ts';
import { errorFormatOf, matchEndpoint, routeMethods } from '../../../core/endpoints/match-endpoint.ts';

describe('paths of the control plane', () => {
  it.each(['/v1/configs', '/v1/configs/pc-a', '/v1/logs/..a', '/v1/providers/a.b', '/v2/organisations/x/...', '/v1/mcp-servers'])(
    '%s goes to the control plane',
    (path) => {
      expect(matchEndpoint('GET', path)).toBe('control-plane');
      expect(errorFormatOf('GET', path)).toBe('control-plane');
    },
  );

  it.each(['/v1/chat/completions', '/v1/config-s', '/v1/', '/v2', '/internal/v1/changes', '/v1/deployments', '/v1/agents'])(
    '%s does not go to the control plane',
    (path) => {
      expect(matchEndpoint('GET', path)).not.toBe('control-plane');
    },
  );

  it.each([
    '/v2/../internal/v1/changes',
    '/v2/.././internal/v1/changes',
    '/v1/configs/../../internal/v1/changes',
    '/v1/configs/%2e%2e/%2E%2e/internal/v1/changes',
    '/v1/configs/.%2e/..',
    '/v1/configs/.',
  ])('%s goes neither to the control plane nor to a provider', (path) => {
    expect(['reserved', 'not-found']).toContain(matchEndpoint('GET', path));
  });

  it('PUT of a batch goes to the control plane, every other method of batches does not', () => {
    expect(matchEndpoint('PUT', '/v1/batches/batch_1')).toBe('control-plane');
    expect(matchEndpoint('GET', '/v1/batches/batch_1')).toMatchObject({ operation: 'retrieveBatch' });
    expect(errorFormatOf('PUT', '/v1/batches/batch_1')).toBe('control-plane');
    expect(errorFormatOf('GET', '/v1/batches/batch_1')).toBe('chat');
  });
});

describe('the methods of a path', () => {
  it.each([
    ['/v1/chat/completions', ['POST']],
    ['/v1/responses/compact', ['POST']],
    ['/v1/responses/resp_1', ['GET', 'DELETE']],
    ['/v1/batches/batch_1', ['GET', 'PUT']],
    ['/v1/configs/explain', ['POST']],
    ['/v1/configs', []],
  ])('%s has %j', (path, methods) => {
    expect(routeMethods(path)).toEqual(methods);
  });

  it('errors of POST /v1/configs/explain have the format of the data plane', () => {
    expect(errorFormatOf('POST', '/v1/configs/explain')).toBe('chat');
  });
});

describe('paths of Google', () => {
  it.each([
    '/v1/v1beta/models/gemini-3-flash:generateContent',
    '/v1/proxy/v1beta/models/gemini-3-flash:streamGenerateContent',
    '/v1/v1/models/gemini-3-flash:countTokens',
    '/v1/models/gemini-3-flash:embedContent',
    '/v1/v1beta1/projects/p/locations/l/publishers/google/models/m:predict',
    '/v1/v1beta/cachedContents',
    '/upload/v1beta/files',
  ])('%s has errors in the form of Google', (path) => {
    expect(matchEndpoint('POST', path)).toMatchObject({ name: 'proxy', format: 'plain', errorForm: 'gemini' });
    expect(errorFormatOf('POST', path)).toBe('gemini');
  });

  it.each([
    '/v1/v1beta/openai/images',
    '/v1/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions',
    '/v1/v2beta/stable-image/generate/core',
    '/v1/proxy/v1/completions',
  ])('%s has errors in the common form', (path) => {
    expect(matchEndpoint('POST', path)).not.toHaveProperty('errorForm');
    expect(errorFormatOf('POST', path)).toBe('chat');
  });

  it('have no errors of Google without the version', () => {
    expect(matchEndpoint('POST', '/v1beta/models/gemini-3-flash:generateContent')).toBe('not-found');
    expect(errorFormatOf('POST', '/v1beta/models/gemini-3-flash:generateContent')).toBe('gemini');
  });
});

describe('paths reserved for the service', () => {
  it.each([
    '/v1/agent',
    '/v1/datasets',
    '/v1/datasets/d1',
    '/v1/gateway/tokenize',
    '/v1/fine-tuning/jobs',
    '/v1/finetune',
    '/v1/dataservice/x',
    '/v1/mcp',
    '/v1/verify-ping',
    '/v1/v1/otel/v1/traces',
    '/v1/v1/configs',
  ])('%s is reserved for every method', (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) expect(matchEndpoint(method, path)).toBe('reserved');
  });

  it.each([
    ['/v1/proxy/otel/v1/traces', '/otel/v1/traces'],
    ['/v1/proxy/datasets', '/datasets'],
    ['/v1/deployments/d1/run', '/deployments/d1/run'],
    ['/v1/agents/completions', '/agents/completions'],
    ['/v1/fine_tuning/other', '/fine_tuning/other'],
  ])('%s passes through', (path, proxyPath) => {
    expect(matchEndpoint('POST', path)).toMatchObject({ name: 'proxy', proxyPath });
  });
});

describe('the rerank path of Cohere', () => {
  it('is the only data-plane route below /v2', () => {
    expect(matchEndpoint('POST', '/v2/rerank')).toBe(matchEndpoint('POST', '/v1/rerank'));
    expect(matchEndpoint('GET', '/v2/rerank')).toBe('method-not-allowed');
    expect(matchEndpoint('POST', '/v2/chat')).toBe('control-plane');
    expect(errorFormatOf('POST', '/v2/rerank')).toBe('chat');
  });
});

describe('the upload paths of Google without /v1, which its SDKs for Go and JavaScript call', () => {
  it.each(['/upload/v1beta/files', '/upload/v1/files', '/upload/v1beta/fileSearchStores/a:uploadToFileSearchStore'])(
    '%s passes through',
    (path) => {
      expect(matchEndpoint('POST', path)).toMatchObject({ name: 'proxy', proxyPath: path });
      expect(matchEndpoint('POST', path)).toEqual(matchEndpoint('POST', `/v1${path}`));
      expect(matchEndpoint('HEAD', path)).toBe('method-not-allowed');
    },
  );

  it.each(['/upload', '/upload/files', '/upload/v1', '/uploads/v1/files'])('%s is not found', (path) => {
    expect(matchEndpoint('POST', path)).toBe('not-found');
  });
});

describe('paths that the control plane and providers have', () => {
  const call = (path: string, headers: Record<string, string>) =>
    isAdminCall(
      { path, header: (name) => headers[name] },
      new Map(headers['x-svc-api-key'] ? [['api-key', headers['x-svc-api-key']]] : []),
    );

  it.each([
    ['/v1/deployments', { 'x-svc-api-key': 'svc_admin_a_b' }],
    ['/v1/deployments/eu/ping', { authorization: 'Bearer svc_admin_a_b' }],
    ['/v1/deployments/eu', { authorization: 'Bearer svc_session_a' }],
  ])('%s with %j goes to the control plane', (path, headers) => {
    expect(call(path, headers as unknown as Record<string, string>)).toBe(true);
  });

  it.each([
    ['/v1/deployments', { 'x-svc-api-key': 'svc_ws_a_b' }],
    ['/v1/deployments', { 'x-svc-api-key': 'svc_ws_a_b', authorization: 'Bearer svc_admin_a_b' }],
    ['/v1/deployments', { authorization: 'Bearer sk-svc_admin_a' }],
    ['/v1/deployments', {}],
    ['/v1/deployments/../../internal/v1/changes', { 'x-svc-api-key': 'svc_admin_a_b' }],
    ['/v1/deployments/%2e%2E/%2e./internal', { 'x-svc-api-key': 'svc_admin_a_b' }],
    ['/v1/deployments2', { 'x-svc-api-key': 'svc_admin_a_b' }],
    ['/v1/deployments/eu/chat/completions', { 'x-svc-api-key': 'svc_admin_a_b' }],
    ['/v1/proxy/deployments', { 'x-svc-api-key': 'svc_admin_a_b' }],
  ])('%s with %j does not', (path, headers) => {
    expect(call(path, headers as unknown as Record<string, string>)).toBe(false);
  });
});
