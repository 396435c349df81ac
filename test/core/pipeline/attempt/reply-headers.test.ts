import { describe, expect, it } from 'vitest';
import { passedHeaders } from '../../../../core/pipeline/attempt/reply-headers.ts';

describe('headers of a provider', () => {
  it.each([
    'set-cookie',
    'set-cookie2',
    'access-control-allow-origin',
    'access-control-allow-credentials',
    'access-control-expose-headers',
    'access-control-max-age',
    'clear-site-data',
    'strict-transport-security',
    'alt-svc',
    'refresh',
    'content-security-policy',
    'content-security-policy-report-only',
    'service-worker-allowed',
    'report-to',
    'nel',
    'content-length',
    'x-svc-trace-id',
    'x-accel-redirect',
    'x-accel-limit-rate',
    'x-envoy-immediate-health-check-fail',
    'x-sendfile',
  ])('%s does not reach the client', (name) => {
    expect(passedHeaders([name, 'x', 'x-kept', 'y'], null)).toEqual(['x-kept', 'y']);
  });

  it('location is renamed, so that no client follows it', () => {
    expect(passedHeaders(['location', 'https://provider.example/uploads/1'], null)).toEqual([
      'x-svc-upstream-location',
      'https://provider.example/uploads/1',
    ]);
  });

  it.each(['/v1/realtime/calls/rtc_1', 'https://provider.example/openai/v1/realtime/calls/rtc_1'])(
    'location %s is also the path of the gateway for this call',
    (location) => {
      expect(passedHeaders(['location', location], null)).toEqual([
        'location',
        '/v1/realtime/calls/rtc_1',
        'x-svc-upstream-location',
        location,
      ]);
    },
  );

  it('except hop-by-hop ones reach the client in order, with bytes above 0x7f unchanged', () => {
    const headers = ['x-request-id', '1', 'x-accel-buffering', 'no', 'x-name', 'caf\xe9', 'link', '</a>', 'x-name', 'b'];
    expect(passedHeaders(headers, null)).toEqual(headers);
  });
});
