import { describe, expect, it } from 'vitest';
import { createRateLimit, TooManyRequests } from '../../../../admin/http/caller/rate-limit.ts';
import { newApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('the rate limit of the control plane', () => {
  it('gives each name its units per minute and refills evenly', () => {
    let now = 0;
    const limit = createRateLimit(60, () => now);
    for (let n = 0; n < 60; n++) limit.take('a');
    expect(() => limit.take('a')).toThrow(TooManyRequests);
    limit.take('b');
    now += 1_000;
    limit.take('a');
    expect(() => limit.take('a')).toThrow('Try again in 1 s');
    now += 3_600_000;
    for (let n = 0; n < 60; n++) limit.take('a');
    expect(() => limit.take('a')).toThrow(TooManyRequests);
    limit.charge('b', 1_000);
    expect(() => limit.take('b', 30)).toThrow('Try again in 30 s');
  });

  it('set to 0 rejects nothing', () => {
    const limit = createRateLimit(0);
    for (let n = 0; n < 1_000; n++) limit.take('a');
    limit.charge('a', 1_000);
    limit.take('a');
  });

  it('returns 429 with AB06 and retry-after per key, without audit entries, and other keys are unaffected', async () => {
    const plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_KEY: '5' });
    try {
      // The first request of a plane has taken one.
      const body = { name: 'x', config: { provider: '@mock' } };
      for (let n = 0; n < 4; n++) expect((await plane.ask('GET', '/configs')).status).toBe(200);
      const audits = await plane.auditCount();
      const reply = await plane.ask('POST', '/configs', { body });
      expect({ status: reply.status, code: reply.body.data.errorCode }).toEqual({ status: 429, code: 'AB06' });
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await plane.auditCount()).toBe(audits);
      expect((await plane.ask('GET', '/configs', { key: plane.workspaceKey })).status).toBe(200);
    } finally {
      await plane.close();
    }
  });

  it('counts rejected keys twentyfold against their address, and ignores gateways', async () => {
    const plane: Plane = await startPlane(ruleDatabase, { ADMIN_REQUESTS_PER_ADDRESS: '50' });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 4; n++) statuses.push((await plane.ask('GET', '/configs', { key: newApiKey('ws').text })).status);
      expect(statuses).toEqual([401, 401, 401, 429]);
      expect((await plane.ask('GET', '/configs')).status).toBe(429);
      const vouched = { 'x-forwarded-for': '203.0.113.7', 'svc-internal-cluster-key': plane.settings.clusterKeyText };
      expect((await plane.ask('GET', '/configs', { headers: vouched })).status).toBe(200);
      for (let n = 0; n < 60; n++) expect((await plane.internal('GET', '/changes?after=0')).status).toBe(200);
    } finally {
      await plane.close();
    }
  });
});
